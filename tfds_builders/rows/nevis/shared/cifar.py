# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CIFAR-10 and CIFAR-100."""

HOMEPAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
CITATION = """@techreport{krizhevsky2009learning,
  title={Learning multiple layers of features from tiny images},
  author={Krizhevsky, Alex},
  institution={University of Toronto},
  year={2009}
}"""
