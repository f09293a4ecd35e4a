# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard's event files, written as protocol buffers.

`tf.summary` runs several ops for each value: an event of 15 numbers took 9 to 14 ms. Here all
values of a step are one record of the file, which takes less than a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import itertools
import math
import os
import pathlib
import socket
import time
from typing import Any

from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto import summary_pb2
from tensorboard.compat.proto import tensor_pb2
from tensorboard.compat.proto import tensor_shape_pb2
from tensorboard.compat.proto import types_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as layout_metadata
from tensorboard.plugins.hparams import api as hparams_api
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.image import metadata as image_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.text import metadata as text_metadata
import tensorflow as tf

PATTERN = "events.out.tfevents.*"
_VERSION = "brain.Event:2"  # TensorFlow's name of the format.
_NUMBERS = itertools.count()
_SHOWN = 5  # Columns of hyper-parameters that the HParams tab shows at first.

_Value = summary_pb2.Summary.Value
Value = Any  # A `Summary.Value`: generated code has no types.


class EventFile:
  """One event file, made with its first record.

  Args:
    folder: of the file; a folder is a run of TensorBoard.
  """

  def __init__(self, folder: pathlib.Path):
    self.folder = pathlib.Path(folder)
    self._file: Any = None

  def add(self, step: int, values: Sequence[Value]) -> None:
    """Adds the values of one step; nothing if there are none."""
    if values:
      self._write(event_pb2.Event(wall_time=time.time(), step=step,
                                  summary=summary_pb2.Summary(value=values)))

  def flush(self) -> None:
    if self._file is not None:
      self._file.flush()

  def close(self) -> None:
    if self._file is not None:
      self._file.close()
    self._file = None

  def _write(self, event: event_pb2.Event) -> None:
    if self._file is None:
      self.folder.mkdir(parents=True, exist_ok=True)
      name = (f"{PATTERN[:-1]}{int(time.time())}.{socket.gethostname()}.{os.getpid()}."
              f"{next(_NUMBERS)}.v2")
      self._file = tf.io.TFRecordWriter(str(self.folder / name))
      self._write(event_pb2.Event(wall_time=time.time(), file_version=_VERSION))
    self._file.write(event.SerializeToString())


def delete(folder: pathlib.Path) -> None:
  """Deletes event files below a folder, and the folders that are empty then."""
  for path in sorted(folder.rglob(PATTERN)):
    path.unlink()
  for path in sorted(folder.rglob("*"), reverse=True):
    if path.is_dir() and not any(path.iterdir()):
      path.rmdir()


def is_number(value: Any) -> bool:
  """Whether the value can be a point of a curve."""
  return (isinstance(value, (int, float)) and not isinstance(value, bool)
          and math.isfinite(value))


@functools.lru_cache(maxsize=1)
def _scalar_metadata() -> summary_pb2.SummaryMetadata:
  return scalar_metadata.create_summary_metadata(display_name=None, description=None)


def scalars(values: Mapping[str, Any]) -> list[Value]:
  """A point of each curve, by tag; what is no number is left out."""
  return [_Value(tag=tag, metadata=_scalar_metadata(), tensor=tensor_pb2.TensorProto(
      dtype=types_pb2.DT_FLOAT, float_val=[value])) for tag, value in values.items()
          if is_number(value)]


def text(tag: str, words: str) -> Value:
  """A text in Markdown."""
  return _Value(tag=tag, metadata=text_metadata.create_summary_metadata(None, None),
               tensor=_strings([words.encode()], is_scalar=True))


def image(tag: str, png: bytes, width: int, height: int) -> Value:
  """A picture."""
  return _Value(tag=tag, metadata=image_metadata.create_summary_metadata(None, None),
               tensor=_strings([str(width).encode(), str(height).encode(), png]))


def _strings(values: Sequence[bytes], *, is_scalar: bool = False) -> tensor_pb2.TensorProto:
  dims = [] if is_scalar else [tensor_shape_pb2.TensorShapeProto.Dim(size=len(values))]
  return tensor_pb2.TensorProto(
      dtype=types_pb2.DT_STRING, string_val=values,
      tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=dims))


def layout(categories: Mapping[str, Mapping[str, Sequence[str]]]) -> Value:
  """The custom scalars: charts with the regular expressions of their tags, by category."""
  found = layout_pb2.Layout(category=[
      layout_pb2.Category(title=title, chart=[
          layout_pb2.Chart(title=name, multiline=layout_pb2.MultilineChartContent(tag=list(tags)))
          for name, tags in charts.items()]) for title, charts in categories.items()])
  return _Value(tag=layout_metadata.CONFIG_SUMMARY_TAG,
               metadata=layout_metadata.create_summary_metadata(),
               tensor=_strings([found.SerializeToString()], is_scalar=True))


def session(values: Mapping[str, Any], name: str) -> list[Value]:
  """A row of the HParams tab: its hyper-parameters, and the id of the row."""
  return list(hparams_api.hparams_pb(dict(values), trial_id=name).value)


def experiment(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str],
               first: Sequence[str] = ()) -> Value:
  """The columns of the HParams tab.

  They are the hyper-parameters in `first` that any row has, then those of which two rows have other
  values. TensorBoard shows five at first: those that are said to differ, by name.

  Args:
    rows: hyper-parameters of each row.
    metrics: tags of scores, in the order of their columns.
    first: names of hyper-parameters.
  """
  by_name: dict[str, list[Any]] = {}
  for row in rows:
    for name, value in row.items():
      by_name.setdefault(name, []).append(value)
  differing = [name for name, values in by_name.items()
               if len(set(map(str, values))) > 1 or len(values) < len(rows)]
  shown = list(dict.fromkeys([*(name for name in first if name in by_name), *differing]))
  infos = []
  for name in shown:
    info = api_pb2.HParamInfo(name=name, differs=name in shown[:_SHOWN])
    values = by_name[name]
    if all(isinstance(value, bool) for value in values):
      info.type = api_pb2.DATA_TYPE_BOOL
      info.domain_discrete.extend(sorted(set(values)))
    elif all(is_number(value) for value in values):
      info.type = api_pb2.DATA_TYPE_FLOAT64
      info.domain_interval.min_value = min(values)
      info.domain_interval.max_value = max(values)
    else:
      info.type = api_pb2.DATA_TYPE_STRING
      info.domain_discrete.extend(sorted(set(map(str, values))))
    infos.append(info)
  columns = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metrics]
  return _Value(
      tag=hparams_metadata.EXPERIMENT_TAG, tensor=hparams_metadata.NULL_TENSOR,
      metadata=hparams_metadata.create_summary_metadata(plugin_data_pb2.HParamsPluginData(
          experiment=api_pb2.Experiment(hparam_infos=infos, metric_infos=columns,
                                        time_created_secs=time.time()))))
