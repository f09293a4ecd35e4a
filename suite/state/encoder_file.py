# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A pretrained backbone in a run directory: `encoder.npz`, and `encoder.json` that describes it.

encoder.npz holds the weights in Keras order, as a weight store writes them, so that it can be the
`start` of a learner with the same backbone. encoder.json holds what is needed without the run file:
the architecture as Keras writes it, the image size, the range of pixels, the width of the features,
how it was trained, what that cost (flops, macs, examples, steps), its year if the run gives one,
and the digest of the weights. Beside them may lie `classifier.npz`: `kernel` [D, C] and `bias` [C]
of the classifier that the backbone was trained with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import json
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.models import conv4  # noqa: F401 - registers its layers, as do the next ones.
from suite.models import model_files
from suite.models import modulated_attention  # noqa: F401
from suite.models import vit  # noqa: F401
from suite.models.clip import architecture  # noqa: F401
from suite.state import snapshots
from suite.state import weight_store
from suite.system import sealed_json

WEIGHTS, ABOUT, CLASSIFIER = "encoder.npz", "encoder.json", "classifier.npz"
_NAMED = 5  # Differences in a message.
COSTS = ("flops", "macs", "examples", "steps")
PIXEL_RANGE = [0, 255]  # Scaling is a layer of each backbone.


class Encoder(NamedTuple):
  """weights: in Keras order. about: the contents of encoder.json."""

  weights: list[np.ndarray]
  about: dict[str, Any]

  def model(self) -> tf.keras.Model:
    """Pixels 0..255 [B, S, S, 3] -> features [B, D]."""
    try:
      model = model_files.from_config(self.about["architecture"], ABOUT)
    except model_files.ModelFileError as error:
      raise ValueError(f"The encoder's architecture cannot be made: {error} Give its weights, "
                       f"{WEIGHTS}, to a learner with the same backbone instead.") from error
    model.set_weights(self.weights)
    return model


class Starting(NamedTuple):
  """Weights to start from, in Keras order, and the known part of what they cost.

  cost: "flops" and "macs", None where unknown; "examples" and "steps" where known.
  year: from which it could have been used; None: not known.
  """

  weights: list[np.ndarray]
  cost: dict[str, Any]
  year: int | None = None


def digest(weights: Sequence[np.ndarray]) -> str:
  """SHA-256 of the shapes, types and values of arrays."""
  found = hashlib.sha256()
  for array in weights:
    array = np.ascontiguousarray(array)
    found.update(f"{array.dtype.str}{array.shape}".encode())
    found.update(array.tobytes())
  return found.hexdigest()


def save(folder: pathlib.Path, model: tf.keras.Model, about: Mapping[str, Any]) -> None:
  """Writes both files, weights first.

  Args:
    folder: the run directory.
    model: pixels 0..255 [B, S, S, 3] to features [B, D].
    about: further entries of encoder.json, plain values.
  """
  weights = model.get_weights()
  text = sealed_json.text({
      "backbone": model.name, "image_size": model.input_shape[1], "pixel_range": PIXEL_RANGE,
      "feature_size": model.output_shape[-1], **about, "weights_digest": digest(weights),
      "architecture": json.loads(model.to_json())})
  folder = pathlib.Path(folder)
  with snapshots.saving("the encoder's weights", folder / WEIGHTS) as temporary:
    weight_store.write_arrays(temporary, {f"{i:04d}": a for i, a in enumerate(weights)})
  with snapshots.saving("the encoder's description", folder / ABOUT) as temporary:
    temporary.write_text(text)


def save_classifier(folder: pathlib.Path, kernel: np.ndarray, bias: np.ndarray) -> None:
  """Writes a classifier beside the encoder."""
  with snapshots.saving("the classifier", pathlib.Path(folder) / CLASSIFIER) as temporary:
    weight_store.write_arrays(temporary, {"kernel": kernel, "bias": bias})


def classifier(place: str | os.PathLike) -> tuple[np.ndarray, np.ndarray]:
  """Returns (kernel [D, C], bias [C]) of a classifier, from its file or the encoder's directory."""
  path = pathlib.Path(place)
  path = path / CLASSIFIER if path.is_dir() else path
  if not path.is_file():
    raise FileNotFoundError(f"There is no classifier {str(path)!r}. `suite weights convert` writes "
                            "one if the checkpoint has it; MoCo's has none.")
  arrays = weight_store.read_arrays(path)
  if set(arrays) != {"kernel", "bias"} or arrays["kernel"].shape[1:] != arrays["bias"].shape:
    raise ValueError(f"{path} holds {sorted(arrays)}; a classifier has kernel [D, C] and bias [C].")
  return arrays["kernel"], arrays["bias"]


def load(folder: pathlib.Path) -> Encoder:
  """The encoder of a run directory; an error if its two files do not belong together."""
  folder = pathlib.Path(folder)
  for name in (WEIGHTS, ABOUT):
    if not (folder / name).is_file():
      raise FileNotFoundError(f"{folder} has no {name}. Give the directory of a pretraining run's "
                              "learner: WORKDIR/moco, say.")
  about = sealed_json.load(
      folder / ABOUT, "description of an encoder", "Run the pretraining again, or restore it "
      "from a copy.", ["weights_digest"])
  arrays = weight_store.read_arrays(folder / WEIGHTS)
  weights = [arrays[key] for key in sorted(arrays)]
  if digest(weights) != about["weights_digest"]:
    raise ValueError(f"{WEIGHTS} in {folder} is not what {ABOUT} describes: the run was killed "
                     "between the two. Run the same command again to resume it.")
  return Encoder(weights, about)


def named(name: str, folder: str | None = None) -> str | None:
  """The place of an encoder in a folder of several; None without a folder: random weights."""
  return None if folder is None else os.path.join(folder, name)


def weights_in(place: str | os.PathLike) -> list[np.ndarray]:
  """The weights in an encoder's directory, or in an .npz in Keras order."""
  path = pathlib.Path(place)
  arrays = weight_store.read_arrays(path / WEIGHTS if path.is_dir() else path)
  return [arrays[key] for key in sorted(arrays)]


def starting(place: str | os.PathLike, model: tf.keras.Model, unsaid: Mapping[str, Any]
             ) -> Starting:
  """The weights of a pretraining for a model of the same architecture, and their cost.

  Args:
    place: the directory of a pretraining run's learner, or an .npz of weights in Keras order; those
      after the model's own, such as a head's, are left out.
    model: the backbone.
    unsaid: the cost, where the place does not say it.
  """
  path = pathlib.Path(place)
  if path.suffix == ".npz" and not path.is_dir():
    if not path.is_file():
      raise FileNotFoundError(f"There is no file of weights {str(path)!r}.")
    arrays = weight_store.read_arrays(path)
    weights, cost, year = [arrays[key] for key in sorted(arrays)], dict(unsaid), None
  else:
    found = load(path)
    weights, cost = found.weights, dict(found.about.get("cost", unsaid))
    year = found.about.get("year")
  check_fits(weights, model, str(path))
  return Starting(weights[:len(model.weights)], cost, year)


def check_fits(weights: Sequence[np.ndarray], model: tf.keras.Model, place: str) -> None:
  """Refuses weights of another architecture; the message names the differences."""
  wanted = [(v.name.split(":")[0], tuple(v.shape)) for v in model.weights]
  found = [tuple(a.shape) for a in weights]
  wrong = [f"{name} is {list(shape)} here and {list(got)} there"
           for (name, shape), got in zip(wanted, found) if shape != got]
  if len(found) < len(wanted):
    missing = [name for name, _ in wanted[len(found):]]
    wrong.append(f"{len(missing)} weights from {missing[0]} on are missing there")
  if wrong:
    more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    raise ValueError(
        f"The weights in {place} are of another architecture than the backbone {model.name!r} "
        f"({len(found)} arrays, {len(wanted)} here): {'; '.join(wrong[:_NAMED])}{more}. Give the "
        "backbone that they were trained with, with the same settings, or other weights.")
