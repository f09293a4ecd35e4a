# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists the packages (setup.cfg cannot mix a search with extra ones); the rest is in setup.cfg.

The folder gin/ is mapped to suite/gin: under its own name it would be installed over gin-config.

    LIFELONG_TENSORFLOW=newer pip install .

installs on Python 3.10 and 3.11 what setup.cfg asks for from Python 3.12 on. No extra can do that:
extras add requirements and take none away, and pip takes the newest release that they allow.

    LIFELONG_PART=lifelong pip install .

installs the same files with what a part of them requires: "lifelong" (evaluation of models by a few
answers: no TensorFlow), "builders" (data sets of `tfds_builders`). One distribution, since two that
own the same files break when one is removed.
"""

import configparser
import os
import pathlib
import re

import setuptools

LINE = os.environ.get("LIFELONG_TENSORFLOW", "")
PART = os.environ.get("LIFELONG_PART", "")
# Part -> the requirements of setup.cfg that it has.
PARTS = {
    "lifelong": ("absl-py", "gin-config", "numpy", "pyarrow", "scipy"),
    "builders": ("absl-py", "h5py", "importlib_resources", "numpy", "pillow", "pyarrow", "scipy",
                 "setuptools", "tensorflow", "tensorflow-datasets", "tensorflow-metadata"),
}


def requirements():
  """The requirements of setup.cfg with those for Python 3.12 from 3.10 on, and those of a part."""
  config = configparser.ConfigParser()
  config.read("setup.cfg", encoding="utf-8")

  def moved(text):
    return (text.replace('"3.12"', '"3.10"') if LINE else text).split("\n")

  extras, required = config["options.extras_require"], moved(config["options"]["install_requires"])
  if PART:
    required = [one for one in required if re.match(r"[\w-]*", one)[0] in PARTS[PART]]
  found = {"install_requires": required,
           "extras_require": {name: moved(extras[name]) for name in extras}}
  if PART == "builders":  # The command reads gin files.
    found["entry_points"] = {"console_scripts": []}
  return found


if PART not in ("", *PARTS):
  raise ValueError(f"LIFELONG_PART is {PART!r}; allowed are {', '.join(PARTS)}, or leave it unset "
                   "for all of it.")
if LINE not in ("", "newer"):
  raise ValueError(f"LIFELONG_TENSORFLOW is {LINE!r}; allowed is 'newer', or leave it unset. "
                   "A certain release: pip install . 'tensorflow==2.19.*'")

# Folder -> package: gin -> suite.gin, gin/runs -> suite.gin.runs, ...
gin = [p for p in (pathlib.Path("gin"), *sorted(pathlib.Path("gin").rglob("*"))) if p.is_dir()]
gin_packages = [".".join(("suite", *folder.parts)) for folder in gin]

setuptools.setup(
    **(requirements() if LINE or PART else {}),
    packages=setuptools.find_packages(include=["suite*", "tfds_builders*"]) + gin_packages,
    package_dir={"suite.gin": "gin"},
    package_data={
        **{package: ["*.gin"] for package in gin_packages},
        "suite": ["py.typed", "configs/gin_names.txt", "configs/methods.csv",
                  "configs/method_values.csv",
                  "configs/old_runs.txt", "models/model_names.txt", "data/streams/tables/*",
                  "reporting/paper/*", "reporting/formats/page/*", "beside/curation/steps/page/*"],
        # What TFDS reads beside a builder: README.md, CITATIONS.bib, TAGS.txt, checksums.tsv.
        "tfds_builders": ["py.typed", "**/*.md", "**/*.bib", "**/*.txt", "**/*.tsv", "**/*.csv",
                          "**/*.json"],
    },
)
