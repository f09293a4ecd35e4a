# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists the packages (setup.cfg cannot mix a search with extra ones); the rest is in setup.cfg.

The folder gin/ is mapped to suite/gin: under its own name it would be installed over gin-config.

    LIFELONG_TENSORFLOW=newer pip install .

installs on Python 3.10 and 3.11 what setup.cfg asks for from Python 3.12 on. No extra can do that:
extras add requirements and take none away, and pip takes the newest release that they allow.
"""

import configparser
import os
import pathlib

import setuptools

LINE = os.environ.get("LIFELONG_TENSORFLOW", "")


def newer_requirements():
  """The requirements of setup.cfg with those for Python 3.12 from 3.10 on."""
  config = configparser.ConfigParser()
  config.read("setup.cfg", encoding="utf-8")

  def moved(text):
    return text.replace('"3.12"', '"3.10"').split("\n")

  extras = config["options.extras_require"]
  return {"install_requires": moved(config["options"]["install_requires"]),
          "extras_require": {name: moved(extras[name]) for name in extras}}


if LINE not in ("", "newer"):
  raise ValueError(f"LIFELONG_TENSORFLOW is {LINE!r}; allowed is 'newer', or leave it unset. "
                   "A certain release: pip install . 'tensorflow==2.19.*'")

# Folder -> package: gin -> suite.gin, gin/runs -> suite.gin.runs, ...
gin = [p for p in (pathlib.Path("gin"), *sorted(pathlib.Path("gin").rglob("*"))) if p.is_dir()]
gin_packages = [".".join(("suite", *folder.parts)) for folder in gin]

setuptools.setup(
    **(newer_requirements() if LINE else {}),
    packages=setuptools.find_packages(include=["suite*", "tfds_builders*"]) + gin_packages,
    package_dir={"suite.gin": "gin"},
    package_data={
        **{package: ["*.gin"] for package in gin_packages},
        "suite": ["py.typed", "configs/gin_names.txt", "configs/methods.csv",
                  "configs/old_runs.txt", "models/model_names.txt", "data/streams/tables/*",
                  "reporting/paper/*", "reporting/formats/page/*", "curation/steps/page/*"],
        # What TFDS reads beside a builder: README.md, CITATIONS.bib, TAGS.txt, checksums.tsv.
        "tfds_builders": ["py.typed", "**/*.md", "**/*.bib", "**/*.txt", "**/*.tsv", "**/*.csv",
                          "**/*.json"],
    },
)
