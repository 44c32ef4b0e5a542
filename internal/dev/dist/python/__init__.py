"""The command tfrec, as a package: `python -m tfrec` runs it."""
