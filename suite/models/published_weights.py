# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Known files of weights: their license, their year, and what their training cost, an estimate.

A file is known by the first eight digits of its SHA-256, which authors write into its name. Nobody
published the FLOPs of these trainings. They are estimated from the published recipe: multiply-adds
of an image forward, times 3 (forward, and both products of the backward pass), times images seen;
a multiply-add is 2 FLOPs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

IMAGENET = 1_281_167  # Training images of ILSVRC 2012.
BACKWARD = 3  # Multiply-adds of a training step over those of a forward pass.


class Published(NamedTuple):
  """A file.

  Attributes:
    net: its name.
    year: of its publication.
    license: SPDX identifier of what it was published under.
    macs: multiply-adds of an image forward, at the side of the training images.
    epochs: over ImageNet.
    source: where recipe and multiply-adds are from.
  """

  net: str
  year: int
  license: str
  macs: float
  epochs: int
  source: str


_LITE = ("EfficientNet, Tan & Le, 2019 (350 epochs); multiply-adds: the authors' table of "
         "EfficientNet-Lite, tensorflow/tpu, 2020")
_V1 = "torchvision, references/classification (90 epochs); multiply-adds: torchvision's table"
_VIT = "torchvision, references/classification (300 epochs); multiply-adds: torchvision's table"
_V2 = ("torchvision, new training recipe, 2021 (600 epochs at 176 pixels); multiply-adds: "
       "torchvision's table, times (176 / 224)^2")

FILES = {
    "57934424": Published("efficientnet_lite0", 2020, "Apache-2.0", 407e6, 350, _LITE),
    "77cc7160": Published("efficientnet_lite1", 2020, "Apache-2.0", 631e6, 350, _LITE),
    "9656183e": Published("efficientnet_lite2", 2020, "Apache-2.0", 899e6, 350, _LITE),
    "f37072fd": Published("resnet18", 2017, "BSD-3-Clause", 1.814e9, 90, _V1),
    "b627a593": Published("resnet34", 2017, "BSD-3-Clause", 3.664e9, 90, _V1),
    "0676ba61": Published("resnet50", 2017, "BSD-3-Clause", 4.089e9, 90, _V1),
    "63fe2227": Published("resnet101", 2017, "BSD-3-Clause", 7.801e9, 90, _V1),
    "394f9c45": Published("resnet152", 2017, "BSD-3-Clause", 11.514e9, 90, _V1),
    "11ad3fa6": Published("resnet50", 2021, "BSD-3-Clause", 4.089e9 * (176 / 224) ** 2, 600, _V2),
    "c867db91": Published("vit_b16", 2022, "BSD-3-Clause", 17.564e9, 300, _VIT),
    "d86f8d99": Published("vit_b32", 2022, "BSD-3-Clause", 4.409e9, 300, _VIT),
}


def about(sha256: str) -> dict[str, Any]:
  """Entries of encoder.json for a file: license, year, cost and how it was estimated; {} unknown.

  Args:
    sha256: of the file, in hexadecimal.
  """
  found = FILES.get(sha256[:8])
  if found is None:
    return {}
  examples = found.epochs * IMAGENET
  macs = round(BACKWARD * found.macs * examples)
  return {
      "license": found.license, "year": found.year,
      "cost": {"flops": 2 * macs, "macs": macs, "examples": examples, "steps": None},
      "cost_is": f"an estimate: {BACKWARD} x {found.macs / 1e6:,.0f} M multiply-adds x "
                 f"{found.epochs} epochs x {IMAGENET:,} images; {found.source}"}
