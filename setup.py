# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists the packages (setup.cfg cannot mix a search with extra ones); the rest is in setup.cfg.

The folder gin/ is mapped to suite/gin: under its own name it would be installed over gin-config.
"""

import pathlib

import setuptools

# Folder -> package: gin -> suite.gin, gin/runs -> suite.gin.runs, ...
gin = [p for p in (pathlib.Path("gin"), *sorted(pathlib.Path("gin").rglob("*"))) if p.is_dir()]
gin_packages = [".".join(("suite", *folder.parts)) for folder in gin]

setuptools.setup(
    packages=setuptools.find_packages(include=["suite*", "tfds_builders*"]) + gin_packages,
    package_dir={"suite.gin": "gin"},
    package_data={
        **{package: ["*.gin"] for package in gin_packages},
        "suite": ["py.typed", "configs/methods.csv", "data/streams/tables/*", "reporting/paper/*"],
        # What TFDS reads beside a builder: README.md, CITATIONS.bib, TAGS.txt, checksums.tsv.
        "tfds_builders": ["py.typed", "**/*.md", "**/*.bib", "**/*.txt", "**/*.tsv", "**/*.csv",
                          "**/*.json"],
    },
)
