# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data features`: writes the features of every image of a data set in shards.

Shards are written atomically; after a kill, the same command writes the missing ones. Images are
encoded as in a run (`frozen_codes`), and batches begin with a shard, so an image's features do not
depend on when a command was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import pathlib
import time
from typing import Any, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.data.images import clear_transform
from suite.data.images import feature_set
from suite.data.streams import feature_sources
from suite.models import pretrained
from suite.models.clip import weight_files
from suite.running import nets
from suite.state import encoder_file
from suite.state import snapshots
from suite.system import atomic_files
from suite.system import sealed_json
from suite.training.scoring import frozen_codes

SHARD_SIZE = 4096


class FeatureEncoder(NamedTuple):
  """An encoder. model: pixels 0..255 [B, S, S, 3] -> features [B, D]; about: manifest entry."""

  model: tf.keras.Model
  about: dict[str, Any]

  @property
  def image_size(self) -> int:
    return int(self.model.input_shape[1])

  @property
  def feature_size(self) -> int:
    return int(self.model.output_shape[-1])


def encoder(name: str, weights: str | None = None, image_size: int | None = None
            ) -> FeatureEncoder:
  """Loads an encoder.

  Args:
    name: a net whose weights a package has ("efficientnet_lite0", see `nets.NETS`), the directory
      of a pretraining run's learner or of a CLIP (`weight_files`), or a Keras application such as
      "ResNet50".
    weights: .h5 file of a Keras application.
    image_size: S of a net or a Keras application; None: the net's own, or 224.
  """
  if name in nets.NETS and nets.NETS[name].package:
    if weights:
      raise ValueError(f"--weights {weights} was given for {name}, whose weights are in a package, "
                       f"{nets.NETS[name].package}. Leave it out.")
    net = nets.net(name, image_size)
    return FeatureEncoder(net, {"name": name, **nets.about(name),
                                "digest": encoder_file.digest(net.get_weights())})
  if name in pretrained.names():
    model = pretrained.application(name, weights or "", image_size=image_size or 224)
    return FeatureEncoder(model, {"name": name, "digest": encoder_file.digest(model.get_weights())})
  folder = pathlib.Path(name)
  if not folder.is_dir():
    of_packages = [one for one, known in nets.NETS.items() if known.package]
    raise ValueError(f"The encoder {name!r} is neither a net with weights "
                     f"({', '.join(of_packages)}), nor the directory of a pretraining run or of a "
                     f"CLIP, nor a Keras application; those are {', '.join(pretrained.names())}.")
  if (folder / weight_files.WEIGHTS).is_file():
    image = weight_files.load(folder).image
    digest = encoder_file.digest(image.get_weights())
    return FeatureEncoder(image, {"name": image.name, "digest": digest})
  if weights:
    raise ValueError(f"--weights {weights} was given for a run directory, which has its own "
                     f"({encoder_file.WEIGHTS}). Leave it out.")
  # A work directory with a single pretrained learner stands for that learner.
  inside = sorted(path.parent for path in folder.glob(f"*/{encoder_file.ABOUT}"))
  if not (folder / encoder_file.ABOUT).exists() and len(inside) == 1:
    folder = inside[0]
  found = encoder_file.load(folder)
  about = {key: value for key, value in found.about.items() if key != "architecture"}
  return FeatureEncoder(found.model(), {"name": found.about["backbone"], **about,
                                 "digest": found.about["weights_digest"]})


def write(source: feature_sources.FeatureSource, encoder: FeatureEncoder, out: pathlib.Path, *,
          splits: Sequence[str] = (), sample: int | None = None, batch_size: int = 256,
          shard_size: int = SHARD_SIZE) -> list[dict[str, Any]]:
  """Writes the missing shards; returns a row of facts for each split.

  Args:
    source: source of the images.
    out: a new folder, or one with features of the same source and encoder.
    splits: splits to write; all if empty.
    sample: number of images of each split, drawn at random; None: all of them. The manifest says of
      how many.
    batch_size: number of images that are read at once.
    shard_size: number of images in a file.
  """
  whole = source
  if sample is not None:
    source = feature_sources.Sample(source, sample)
  unknown = [split for split in splits if split not in source.splits]
  if unknown:
    raise ValueError(f"{source.name!r} has no split {', '.join(unknown)}; it has "
                     f"{', '.join(source.splits)}.")
  out = pathlib.Path(out)
  wanted = {split: source.splits[split] for split in splits or source.splits}
  shard_size = _claim(out, source, encoder, {
      split: {"num_examples": num, **({"of": whole.splits[split]} if num < whole.splits[split]
                                      else {})} for split, num in wanted.items()}, shard_size)
  frozen = frozen_codes.FrozenEncoder(lambda images: encoder.model(images, training=False))
  rows, transform = [], clear_transform.Clear(encoder.image_size)
  for split, num in wanted.items():
    began, written = time.monotonic(), 0
    atomic_files.sweep(out / split)
    for number, (first, end) in enumerate(feature_set.ranges(num, shard_size)):
      shard = feature_set.shard_folder(out, split, number)
      if shard.is_dir():
        continue
      images = source.part(split, first, end)
      batches = images.eval_batches(min(batch_size, shard_size), transform=transform)
      values = frozen.encode(batch["image"].numpy()[batch["mask"].numpy()] for batch in batches)
      broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
      if broken.size:
        raise ValueError(
            f"The encoder makes NaN or infinite features of {broken.size} of {images.size} images "
            f"of {images.name!r}, the first with id {images.ids[broken[0]]!r}. Its training has "
            "diverged; give another one.")
      with snapshots.saving("a shard of features", shard) as temporary:
        temporary.mkdir()
        feature_set.write_shard(temporary, values, images.ids.tolist(),
                                images.digests() if source.are_own else ())
      written += end - first
      logging.info("%s %s: %d of %d images", source.name, split, end, num)
    rows.append({"split": split, "num_examples": num, "written": written,
                 "feature_size": encoder.feature_size, "seconds": time.monotonic() - began})
  return rows


def _claim(out: pathlib.Path, source: feature_sources.FeatureSource, encoder: FeatureEncoder,
           splits: dict[str, dict[str, int]], shard_size: int) -> int:
  """Writes the manifest, or compares it with the one that is there; returns the shards' size."""
  facts = {"data_set": source.name, "version": source.version, "encoder": encoder.about,
           "image_size": encoder.image_size, "feature_size": encoder.feature_size}
  before: dict[str, Any] = {}
  if (out / feature_set.MANIFEST).exists():
    before = feature_set.read_manifest(out)
    other = [key for key in facts if before.get(key) != facts[key]]
    if other == ["version"] and source.are_own:
      raise ValueError(f"{out} holds features of {source.name!r} as it was before: images have "
                       "been changed, added or removed since. Give another --out.")
    if other:
      raise ValueError(f"{out} holds features of another {', '.join(other)}: "
                       f"{_short(before.get(other[0]))}, not {_short(facts[other[0]])}. Give "
                       "another --out.")
    shard_size = before["shard_size"]
  elif out.is_dir() and not all(
      path.name.startswith(atomic_files.TEMPORARY) for path in out.iterdir()):
    raise ValueError(f"{out} is not empty and holds no features; give another --out.")
  known = before.get("splits", {})
  for split, sizes in splits.items():
    if known.get(split, sizes) != sizes:
      raise ValueError(f"{out} holds features of {known[split]['num_examples']} images of split "
                       f"{split!r}, not of {sizes['num_examples']}. Give the same --sample, or "
                       "another --out.")
  known = {**known, **splits}
  manifest = {**facts, "shard_size": shard_size, "dtype": "float32", "splits": known}
  if manifest != before:
    snapshots.save_text(out / feature_set.MANIFEST, sealed_json.text(manifest))
  return shard_size


def _short(value: Any) -> str:
  text = json.dumps(value)
  return text if len(text) < 200 else f"{text[:200]}..."
