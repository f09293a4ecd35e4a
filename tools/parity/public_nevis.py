# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streams, splits and metrics of the NEVIS'22 reference (dm_nevis), for `tools/parity nevis`.

Their functions run unmodified. Metrics need jax, chex, optax and scikit-learn; TensorFlow, TFDS and
Pillow, which the functions in question do not use, may be missing. Splits of TFDS data sets are
recorded instead of read: `tfds.builder` and their `get_dataset` are replaced.

Settings: `what` (streams, draws, slices, metrics) and its own, see the functions.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from typing import Any

import public_code

_UNUSED = ("tensorflow", "tensorflow.io", "tensorflow_datasets", "PIL", "PIL.Image",
           "dm_nevis.benchmarker.datasets.builders.coil100",
           "dm_nevis.benchmarker.datasets.builders.domainnet",
           "dm_nevis.benchmarker.datasets.builders.smallnorb",
           "dm_nevis.benchmarker.datasets.builders.tfds_builder",
           "dm_nevis.datasets_storage.dataset_loader", "dm_nevis.streams.nevis")


def _module(name: str) -> Any:
  """Imports one of their modules without the packages around it, which import everything."""
  with public_code.stand_ins(*_UNUSED, without=("dm_nevis.datasets_storage.handlers",)):
    return importlib.import_module(name)


def streams() -> public_code.Arrays:
  """For each variant, its data sets "VARIANT" in their order and "VARIANT_years"."""
  import numpy as np
  module, found = _module("dm_nevis.streams.nevis_stream"), {}
  for variant, years in module.NEVIS_STREAM_PER_YEAR.items():
    lines = [(module.DATASET_NAME_TO_SOURCE[title].name, year)
             for year, titles in years.items() for title in titles]
    found[variant.name] = np.array([name for name, _ in lines])
    found[f"{variant.name}_years"] = np.array([year for _, year in lines])
  return found


def draws(sizes: list[int]) -> public_code.Arrays:
  """For each rule and number of examples, the part of each example, "RULE_N"."""
  import numpy as np
  module, found = _module("dm_nevis.datasets_storage.handlers.splits"), {}
  rules = {"pooled": module.SPLIT_WITH_FRACTIONS_FOR_ALL_DATA,
           "train_only": module.SPLIT_WITH_FRACTIONS_FOR_TRAIN,
           "train_dev": module.SPLIT_WITH_FRACTIONS_FOR_TRAIN_AND_DEV_ONLY}
  for rule, shares in rules.items():
    for size in sizes:
      parts = np.full(size, "", "U8")
      made = module.random_split_generator_into_splits_with_fractions(
          lambda size=size: iter(range(size)), shares, module.MERGED_TRAIN_AND_DEV)
      for name, examples in made.items():
        if name != "train_and_dev":
          parts[list(examples)] = name.replace("-", "_")
      found[f"{rule}_{size}"] = parts
  return found


def slices(names: list[str], sizes: dict[str, int]) -> public_code.Arrays:
  """For each TFDS data set with splits of these sizes, the part of each example, "NAME|SPLIT"."""
  import numpy as np
  module = _module("dm_nevis.streams.nevis_stream")
  builder = types.SimpleNamespace(info=types.SimpleNamespace(
      splits={name: types.SimpleNamespace(num_examples=size) for name, size in sizes.items()}))
  module.tfds = types.SimpleNamespace(builder=lambda name: builder)
  module.tfds_builder = types.SimpleNamespace(
      get_dataset=lambda name, split, start=0, end=None: (split, start, end))
  found = {}
  for name in names:
    made = module._dataset_splits_for_tfds(module.TFDSSource(name))
    for part in ("train", "dev", "dev_test", "test"):
      split, start, end = getattr(made, part).dataset
      parts = found.setdefault(f"{name}|{split}", np.full(sizes[split], "", "U8"))
      assert not parts[start:end].astype(bool).any(), f"{name}: {part} overlaps another part"
      parts[start:end] = part
  return found


def metrics(arrays: public_code.Arrays) -> public_code.Arrays:
  """Scores of batches: single-label "logits_I" with "labels_I", multi-label "chances_I", "many_I".

  Returns "single" [I, 2], accuracy and cross-entropy, "multi" [I], mean average precision, and
  "average" and "weighted", the accuracies of the single-label tasks together.
  """
  import numpy as np
  single = _module("dm_nevis.benchmarker.metrics.classification_metrics")
  multi = _module("dm_nevis.benchmarker.metrics.multi_label_classification_metrics")
  together = _module("experiments_jax.metrics.nevis_metrics")
  told = types.SimpleNamespace
  scores, tasks, precisions = [], [], []
  for i in range(sum(name.startswith("logits_") for name in arrays)):
    logits, labels = arrays[f"logits_{i}"], arrays[f"labels_{i}"]
    halves = [slice(0, len(labels) // 2), slice(len(labels) // 2, None)]  # Two batches.
    found = single.compute_metrics(
        told(batch=told(label=labels[half]), output=[logits[half]]) for half in halves)
    scores.append((float(found.top_one_accuracy), float(found.cross_entropy)))
    tasks.append(told(metrics=found))
  for i in range(sum(name.startswith("chances_") for name in arrays)):
    chances, many = arrays[f"chances_{i}"], arrays[f"many_{i}"]
    found = multi.compute_metrics([told(batch=told(multi_label_one_hot=many), output=chances.T)])
    precisions.append(found.mean_average_precision)
  means = together._compute_single_label_results(tasks)
  return {"single": np.array(scores), "multi": np.array(precisions),
          "average": np.array(means["average_single_label_accuracy"]),
          "weighted": np.array(means["weighted_average_single_label_accuracy"])}


def answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
           ) -> public_code.Arrays:
  sys.path.insert(0, str(checkout))
  what = settings.pop("what")
  if what == "metrics":
    return metrics(arrays)
  return {"streams": streams, "draws": draws, "slices": slices}[what](**settings)


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("numpy", "jax", "sklearn")))
