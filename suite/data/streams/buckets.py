# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Series of buckets, `suite.buckets` in Python: portions of one task that come one after the other.

  of           image sets of a user, a bucket each, in order of time (CLEAR)
  of_classes   the classes of one data set, some with each bucket (Split-MNIST, Split-CIFAR-100)
  permuted     one data set, whose pixels are in another order in each bucket (Permuted MNIST)
  rotated      one data set, turned by another angle in each bucket (Rotated MNIST)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import functools
import reprlib
from typing import Any, Literal

from absl import logging
import numpy as np

from suite.compute import seeds
from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.streams import class_coverage

ClassOrder = Sequence[int] | Literal["numpy_1993"]
NUMPY_1993 = "numpy_1993"
_TURNED_AT_ONCE = 64  # Images: as float64 they stay in the cache.
_TIE = 1e-9  # Far above the rounding of four products with levels up to 255.


@dataclasses.dataclass(frozen=True, eq=False)
class Bucket:
  """One period: a name such as "bucket_03", and its training and test set.

  `unlabelled` are further images of the period, if there are any, for semi-supervised learning; all
  have the label 0 of 1 class (see `partly_labelled`).
  """

  name: str
  train: examples.ExampleSet
  test: examples.ExampleSet
  unlabelled: examples.ExampleSet | None = None

  def __repr__(self) -> str:
    more = "" if self.unlabelled is None else f", {self.unlabelled.size:,} unlabelled"
    return (f"Bucket({reprlib.repr(self.name)}, {self.train.size:,} training and "
            f"{self.test.size:,} test images{more})")


@dataclasses.dataclass(frozen=True, eq=False)
class Buckets:
  """T buckets in order of time under one task: buckets[t].train, len(buckets).

  Attributes:
    task: has the C classes.
    buckets: the T of them.
    class_names: C names, for reports; (): those of the sets, if these have any.
  """

  task: tasks.Task
  buckets: tuple[Bucket, ...]
  class_names: tuple[str, ...] = ()

  def __post_init__(self) -> None:
    sets = [part for bucket in self.buckets for part in (bucket.train, bucket.test)]
    named = {class_lists.of(part): part for part in sets if class_lists.of(part)}
    if len(named) > 1:
      (first, part), (second, other), *_ = named.items()
      raise ValueError(
          f"The classes of {part.name!r} are {class_lists.shown(first or ())}, but those of "
          f"{other.name!r} are {class_lists.shown(second or ())}. All buckets of a series share one"
          " list of classes: join them by buckets.of, which renumbers labels by name.")
    class_lists.joined(sets, f"The series of {self.task.key!r}")  # Names of all sets, or of none.
    if named and not self.class_names:
      object.__setattr__(self, "class_names", next(iter(named)))
    if self.class_names and len(self.class_names) != self.task.num_classes:
      raise ValueError(f"Task {self.task.key!r} has {self.task.num_classes} classes and "
                       f"{len(self.class_names)} names of classes; give one name for each.")
    for part in sets:
      if (part.kind, part.num_classes) != (self.task.kind, self.task.num_classes):
        raise ValueError(
            f"{part.name!r} is {part.kind} with {part.num_classes} classes, but task "
            f"{self.task.key!r} is {self.task.kind} with {self.task.num_classes}: all buckets of "
            "a series share one head. Give each set the same class_names, or num_classes.")

  def __repr__(self) -> str:
    names = [reprlib.repr(bucket.name) for bucket in self.buckets]
    shown = names if len(names) < 3 else [names[0], "...", names[-1]]
    num_train, num_test = (sum(getattr(bucket, part).size for bucket in self.buckets)
                           for part in ("train", "test"))
    return (f"Buckets({reprlib.repr(self.task.key)}, {len(names)}: "
            f"{', '.join(shown)}, {num_train:,} training and {num_test:,} test "
            f"images, {self.task.num_classes} classes)")

  def __len__(self) -> int:
    return len(self.buckets)

  def __getitem__(self, place: int) -> Bucket:
    return self.buckets[place]

  def __iter__(self) -> Iterator[Bucket]:
    return iter(self.buckets)


def of(parts: Sequence[Any] | Mapping[str, Any], *, name: str = "mine",
       names: Sequence[str] | None = None, test_share: float = 0.3, seed: int = 0,
       class_names: class_lists.ClassNames = None) -> Buckets:
  """Buckets of image sets, in order of time.

  Sets with names of classes are joined by name: the list of classes is that of the first set,
  followed by the names that each later one adds, and all labels are renumbered to it. Sets whose
  names are partly the same are refused unless one set has all names, or the list is given: a
  misspelled name would be one more class. Sets with no common name are tasks of other classes.
  Sets without names are joined by number; sets with names and without are refused.

  Args:
    parts: for each bucket (training set, test set), {"train", "test"}, or one set, of which a share
      is for testing. A dictionary of these has the names of the buckets as its keys.
    name: of the task.
    names: of the buckets; "bucket_01", ... if not given.
    test_share: share of each class that is tested on, where one set is given.
    seed: of this choice.
    class_names: the list of classes, in the order of the labels; sets without names get these.

  Raises:
    ValueError: also for a bucket that is too small to be divided, and for a class that is tested
      and never trained. A bucket without images of some class is logged.
  """
  if not parts:
    raise ValueError("buckets.of was given no bucket; give a list of (training set, test set).")
  if hasattr(parts, "eval_batches"):
    raise ValueError(f"buckets.of was given one image set, {parts!r}; give a list with one for "
                     "each bucket, or with (training set, test set).")
  if not isinstance(parts, (Mapping, Sequence)):
    parts = list(parts)
  if isinstance(parts, Mapping):
    if set(parts) & {"train", "test"}:
      raise ValueError(f"buckets.of was given the splits {', '.join(map(str, parts))}; they are of "
                       "one bucket: give a list, buckets.of([(sets['train'], sets['test']), ...]).")
    names, parts = names or list(map(str, parts)), list(parts.values())
  titles = [str(title) for title in names] if names is not None else [
      f"bucket_{number:02d}" for number in range(1, len(parts) + 1)]
  if len(titles) != len(parts):
    raise ValueError(f"buckets.of was given {len(parts)} buckets and {len(titles)} names; give one "
                     "name for each bucket.")
  pairs = [_divided(part, title, test_share, seed) for part, title in zip(parts, titles)]
  sets = [one for pair in pairs for one in pair]
  if class_names is None:
    class_lists.check_covered(sets, "buckets.of")
    sets = class_lists.aligned(sets, "buckets.of")
  else:
    class_lists.joined(sets, "buckets.of")  # Refuses sets with names and without.
    sets = [one.with_class_names(class_names) if class_lists.of(one) is None else
            one.with_classes(class_names) for one in sets]
  trains, tests = sets[::2], sets[1::2]
  made = Buckets(tasks.Task(name, sets[0].kind, sets[0].num_classes),
                 tuple(Bucket(*bucket) for bucket in zip(titles, trains, tests)))
  class_coverage.check_trained("buckets.of", trains, tests)
  class_coverage.warn_of_gaps("buckets.of", titles, trains, "to train on")
  class_coverage.warn_of_gaps("buckets.of", titles, tests, "to test on")
  return made


def of_classes(data: Any, *, num_tasks: int = 5, seed: int | None = 0,
               class_order: ClassOrder | None = None, first: int | None = None,
               test_share: float = 0.3, data_dir: str | None = None) -> Buckets:
  """Buckets with different classes, for class- and task-incremental learning.

  Split-MNIST is of_classes("nevis/mnist", num_tasks=5, seed=None), Split-CIFAR-100
  of_classes("cifar100", num_tasks=10).

  Args:
    data: an image set, of which a share is for testing; (training set, test set); or the name of a
      prepared data set, whose split "test" is tested on and all others are trained on.
    num_tasks: T; the classes are dealt out evenly, the first buckets having one more if they must.
    seed: of the order of the classes; None: in the order of their labels.
    class_order: in place of `seed`, all labels in the order in which they come; or "numpy_1993",
      the permutation of numpy's old generator with the seed 1993, which PyCIL and PILOT have.
    first: the number of classes of the first bucket, 50 of 100 say; None: as many as the others.
    test_share: of each class, where one image set is given.
    data_dir: where a named data set is prepared.

  Returns:
    "task_01", ..., whose classes are numbered in the order in which they come.

  Raises:
    ValueError: also if a task would have no class, or a class has no training image.
  """
  train, test = _pair(data, test_share, data_dir, "buckets.of_classes")
  classes = np.unique(train.labels)
  class_coverage.check_trained("buckets.of_classes", [train], [test])
  rest = len(classes) - (first or 0)
  least = num_tasks - (first is not None)
  if num_tasks < 2 or rest < least or first is not None and first < 1:
    begun = "" if first is None else f", the first of {first} classes"
    raise ValueError(
        f"The {len(classes)} classes of {train.name!r} do not make {num_tasks} tasks{begun}: a "
        "task without a class has nothing to learn. Take 2 tasks or more, and no more tasks than "
        "there are classes.")
  order = _ordered(classes, seed, class_order, train.name)
  if first is None:
    dealt = np.array_split(order, num_tasks)
  else:
    dealt = [order[:first], *np.array_split(order[first:], num_tasks - 1)]
  ends = np.cumsum([len(own) for own in dealt])
  pair = [part.of_classes(order) for part in (train, test)]
  _check_tested(train, test, dealt)
  found = [Bucket(_title(t), *(part.subset(np.flatnonzero(
      (part.labels >= end - len(dealt[t])) & (part.labels < end))) for part in pair))
           for t, end in enumerate(ends)]
  return Buckets(tasks.Task(f"split {_base(train.name)}", train.kind, len(order)), tuple(found))


def _check_tested(train: image_set.ImageSet, test: image_set.ImageSet,
                  dealt: Sequence[np.ndarray]) -> None:
  """Reports classes that are trained and never tested; refuses a task of such classes alone."""
  for own in dealt:
    gaps = own[~np.isin(own, test.labels)]
    names = class_lists.shown([train.class_names[label] if train.class_names else str(label)
                               for label in gaps])
    if len(gaps) == len(own):
      raise ValueError(f"buckets.of_classes: {test.name!r} has no image of a whole task, the "
                       f"classes {names}. Add test images of them, or leave them out of the "
                       "training images.")
    if len(gaps):
      logging.warning("buckets.of_classes: %r has no image of the classes %s, which are trained "
                      "on: they count in no score.", test.name, names)


def _ordered(classes: np.ndarray, seed: int | None, class_order: ClassOrder | None, name: str
             ) -> np.ndarray:
  """The labels [C], ascending, in the order in which they come."""
  if class_order is None:
    return classes if seed is None else seeds.generator(seed, "classes").permutation(classes)
  if isinstance(class_order, str):
    if class_order != NUMPY_1993:
      raise ValueError(f"buckets.of_classes.class_order is {class_order!r}; give {NUMPY_1993!r}, "
                       "or all labels in the order in which they come.")
    # The old generator: G-U-N/PyCIL, 44cda2e, utils/data_manager.py, seeds it and permutes.
    return np.random.RandomState(1993).permutation(classes)
  order = np.asarray(class_order)
  if sorted(order.tolist()) != classes.tolist():
    wrong = sorted(set(order.tolist()) - set(classes.tolist()))
    missing = sorted(set(classes.tolist()) - set(order.tolist()))
    raise ValueError(
        f"buckets.of_classes.class_order has {len(order)} labels, and {name!r} has {len(classes)} "
        f"classes; unknown are {wrong[:10]}, missing {missing[:10]}. Give each label of the data "
        "once.")
  return order


def permuted(data: Any, *, num_tasks: int = 10, seed: int = 0, test_share: float = 0.3,
             data_dir: str | None = None) -> Buckets:
  """Buckets of all images, whose pixels are in another order in each (domain-incremental).

  All tasks are made at once: 20 of MNIST's 70,000 images take 1.1 GB.

  Args:
    data, test_share, data_dir: as of `of_classes`; images of one size.
    num_tasks: T.
    seed: of the permutations, one for each task.
  """
  def change(images: np.ndarray, t: int) -> np.ndarray:
    count, height, width, channels = images.shape
    places = seeds.generator(seed, "permutation", t).permutation(height * width)
    flat = images.reshape([count, height * width, channels])
    return flat[:, places].reshape(images.shape)

  return _changed(data, "permuted", num_tasks, change, test_share, data_dir)


def rotated(data: Any, *, num_tasks: int = 10, seed: int = 0, degrees: float = 180.0,
            test_share: float = 0.3, data_dir: str | None = None) -> Buckets:
  """Buckets of all images, turned by an angle that is drawn for each (domain-incremental).

  Args:
    data, test_share, data_dir, num_tasks: as of `permuted`.
    seed: of the angles. degrees: angles are uniform over 0 to this one.
  """
  def change(images: np.ndarray, t: int) -> np.ndarray:
    return _turned(images, seeds.generator(seed, "angle", t).uniform(0.0, degrees))

  return _changed(data, "rotated", num_tasks, change, test_share, data_dir)


def _turned(images: np.ndarray, angle: float) -> np.ndarray:
  """Images uint8 [N, H, W, C], turned about their center, 0 where nothing was.

  The same pixels as ndimage.rotate(images, angle, axes=(1, 2), reshape=False, order=1), which calls
  Python for each image. Bilinear interpolation at one angle is one sparse matrix for all images.
  """
  from scipy import ndimage  # pylint: disable=import-outside-toplevel
  from scipy import sparse  # pylint: disable=import-outside-toplevel

  rotate = functools.partial(
      ndimage.rotate, angle=angle, axes=(1, 2), reshape=False, order=1)
  count, height, width, channels = images.shape
  # The coordinates that a pixel is read at, themselves read at these coordinates; -1 is outside.
  places = rotate(np.indices([height, width], np.float64), cval=-1.0).reshape([2, -1])
  inside = np.flatnonzero(places[0] >= 0.0)
  y, x = places[:, inside]
  top, left = y.astype(np.int64), x.astype(np.int64)
  bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
  matrix = sparse.csr_matrix((
      np.concatenate([(1.0 - y + top) * (1.0 - x + left), (1.0 - y + top) * (x - left),
                      (y - top) * (1.0 - x + left), (y - top) * (x - left)]),
      (np.tile(inside, 4), np.concatenate([top * width + left, top * width + right,
                                           bottom * width + left, bottom * width + right]))),
                             shape=[height * width] * 2)
  found = np.empty_like(images)
  for start in range(0, count, _TURNED_AT_ONCE):
    part = images[start:start + _TURNED_AT_ONCE]
    columns = part.transpose(1, 2, 0, 3).reshape([height * width, -1]).astype(np.float64)
    values = matrix @ columns + 0.5
    turned = values.astype(np.uint8).reshape([height, width, len(part), channels])
    found[start:start + len(part)] = turned.transpose(2, 0, 1, 3)
    # Halves, at angles such as 60 degrees, are rounded as the order of sums has it.
    near = np.abs(values - np.rint(values)) < _TIE
    if near.any():
      tied = np.flatnonzero(near.reshape(turned.shape).any(axis=(0, 1, 3)))
      found[start + tied] = rotate(part[tied])
  return found


def _changed(data: Any, how: str, num_tasks: int, change: Callable[[np.ndarray, int], np.ndarray],
             test_share: float, data_dir: str | None) -> Buckets:
  """Buckets of all images, changed by change(images uint8 [N, H, W, C], number of the bucket)."""
  pair = _pair(data, test_share, data_dir, f"buckets.{how}")
  if num_tasks < 2:
    raise ValueError(f"buckets.{how} was asked for {num_tasks} task(s); give at least 2.")
  found = []
  for t in range(num_tasks):
    found.append(Bucket(_title(t), *(image_set.ImageSet.from_arrays(
        f"{part.name}, {how}", change(part.pixels(), t), part.labels, kind=part.kind,
        num_classes=part.num_classes, ids=part.ids, class_names=part.class_names)
                                     for part in pair)))
  train = pair[0]
  return Buckets(tasks.Task(f"{how} {_base(train.name)}", train.kind, train.num_classes),
                 tuple(found))


def _title(t: int) -> str:
  return f"task_{t + 1:02d}"


def _base(name: str) -> str:
  """The name of a data set without its folder and split: "mnist" of "nevis/mnist train"."""
  return name.partition(" ")[0].rpartition("/")[2]


def _pair(data: Any, test_share: float, data_dir: str | None, where: str
          ) -> tuple[image_set.ImageSet, image_set.ImageSet]:
  """The training and the test set, with one list of classes, in memory."""
  if isinstance(data, str):
    splits = tfds_source.num_examples(data, data_dir=data_dir)
    tfds_source.check_prepared(data, data_dir=data_dir)
    others = sorted(set(splits) - {"test"})
    if "test" not in splits or not others:
      raise ValueError(f"{where}: data set {data!r} has the splits {', '.join(sorted(splits))}; "
                       "needed are \"test\" and others. Give (training set, test set), each read "
                       "by suite.images.from_tfds.")
    pair = tuple(prepared_sets.read(data, split, data_dir=data_dir)
                 for split in ("+".join(others), "test"))
  else:
    pair = _divided(data, where, test_share, 0)
  for part in pair:
    if not isinstance(part, image_set.ImageSet):
      raise ValueError(f"{where}: {part.name!r} is read from the disk as it is used; tasks are "
                       "made of sets in memory. Give a smaller set.")
    if part.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{where}: {part.name!r} is {part.kind}; an image would be of several "
                       "tasks. Take a data set with one label an image.")
  aligned = class_lists.aligned(list(pair), where)
  if aligned[0].num_classes != aligned[1].num_classes:
    raise ValueError(f"{where}: {aligned[0].name!r} has {aligned[0].num_classes} classes, and "
                     f"{aligned[1].name!r} {aligned[1].num_classes}. Give both the same.")
  return aligned[0], aligned[1]


def _divided(part: Any, title: str, test_share: float, seed: int) -> tuple[Any, Any]:
  """(training set, test set) of what was given for a bucket."""
  if isinstance(part, Mapping) and set(part) == {"train", "test"}:
    part = part["train"], part["test"]
  pair = tuple(part) if isinstance(part, (tuple, list)) else (part,)
  if not 1 <= len(pair) <= 2:
    raise ValueError(f"Bucket {title!r} has {len(pair)} sets; give (training set, test set), or "
                     "one set.")
  for one in pair:
    if not hasattr(one, "eval_batches"):
      raise ValueError(f"Bucket {title!r} holds {image_set.told(one)}; give image sets, made by "
                       "suite.images.from_arrays, from_dataset, from_directory, from_csv, "
                       "from_huggingface or from_tfds: (training set, test set), or one of them.")
  if len(pair) == 2:
    return pair[0], pair[1]
  if not 0 < round(test_share * pair[0].size) < pair[0].size:
    raise ValueError(
        f"Bucket {title!r} ({pair[0].name!r}) has {pair[0].size} image(s), too few to test on "
        f"{test_share} of them. Join it with a neighboring bucket, leave it out, or give (training "
        "set, test set).")
  return image_set.stratified_split(pair[0], test_share, seed=seed)
