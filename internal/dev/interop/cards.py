"""Reads cards: the header of README.md with Hugging Face's library, croissant.json with mlcroissant.

Each argument is the directory of a set with a card. Prints a line of JSON for each: the features
and the records of each split that the header has, and the number of records that Croissant reads
from the exports.
"""

import json
import logging
import sys

import datasets
import mlcroissant
import yaml


def header(path):
    """Returns the YAML that begins a card."""
    _, text, _ = open(path, encoding="utf-8").read().split("---\n", 2)
    return yaml.safe_load(text)


def main():
    for directory in sys.argv[1:]:
        card = header(f"{directory}/README.md")
        info = datasets.DatasetInfo._from_yaml_dict(card["dataset_info"])
        croissant = mlcroissant.Dataset(f"{directory}/croissant.json")
        issues = croissant.metadata.ctx.issues
        read = 0
        if any(r.id == "records" for r in croissant.metadata.record_sets):
            read = sum(1 for _ in croissant.records("records"))
        print(json.dumps({
            "Features": sorted(info.features),
            "Splits": {name: s.num_examples for name, s in info.splits.items()},
            "License": card.get("license", ""),
            "Issues": sorted(issues.errors) + sorted(issues.warnings),
            "Read": read,
        }))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main()
