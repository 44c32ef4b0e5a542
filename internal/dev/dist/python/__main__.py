"""Runs the command that was installed with this package: `python -m tfrec` is `tfrec`."""
import os
import signal
import subprocess
import sys
from importlib import metadata


def command():
    """Returns the path of the command."""
    name = "tfrec.exe" if os.name == "nt" else "tfrec"
    try:
        installed = [f.locate() for f in metadata.files("tfrec") or () if f.name == name]
    except metadata.PackageNotFoundError:
        installed = []
    # pip install --target moves the command without changing the list of files.
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in [*installed, os.path.join(site, "bin", name)]:
        if os.path.isfile(path):
            return os.fspath(path)
    sys.exit("python -m tfrec: the command is missing from this installation: run pip install --force-reinstall on the wheel")


def main():
    argv = [command(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(argv[0], argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the command as well, which decides
    sys.exit(subprocess.run(argv).returncode)


main()
