# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four-block net as pure functions of its weights, for learners that differentiate twice.

A block is a 3x3 convolution, batch norm, LeakyReLU and 2x2 max pooling (MAML++, Antoniou et al.,
2019); a linear layer follows. The scales and offsets of the norms are not among the weights: an
inner loop adapts the weights and takes another row of scales and offsets at each of its steps.

Three details differ from the usual formulation, with the same result:
  * Pooling comes before the LeakyReLU, which is increasing, so both orders take the same maximum.
  * A convolution's bias is stored but not added: batch norm would subtract it again. Its gradient
    is exactly 0, as adding it would give up to rounding.
  * The first block's norm is folded into its kernel where images have one channel (`twice_norm`).

B images, S = H = W their size, C channels, F filters, K classes, N blocks.

The four-block nets of several episodes as one net of grouped convolutions.

Each episode adapts its own weights, so E episodes need E kernels a layer. Along the channels they
are one kernel of E groups: episode e has the channels e * C ... e * C + C - 1 of every tensor.
Norms and pooling work on channels one by one, so they are those of `functional_conv4`; the last
layer is a product of E matrices. An `inner_loop.InnerLoop` takes it as any other net, with two
differences:

  * Labels are [B, E] and logits [B, E, K], so a mean loss is that of all episodes; `folded`
    multiplies the inner rates by E, and each episode takes the step of its own mean loss.
  * The weights are E copies side by side; a meta-gradient sums over them.

B images, H x W positions, C channels, F filters, K classes, N blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import itertools
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from suite.models import image_input
from suite.models import precision
from suite.models.episodic import kinks
from suite.models.episodic import twice_norm

Weights = dict[str, tf.Tensor]


class ObservedImages(NamedTuple):
  """Images, and what passes over them share.

  Attributes:
    images: prepared, [B, H, W, C].
    patches: the moments of their patches, where `twice_norm.folds`; None if they are not known.
    twice: whether second derivatives of the passes will be asked for, see `kinks.max_pool`.
    parts: into how many parts they are split, so that each core computes one (`twice_norm`).
  """

  images: tf.Tensor
  patches: twice_norm.Patches | None = None
  twice: bool = True
  parts: int = 1


Images: TypeAlias = tf.Tensor | ObservedImages


class Norms(NamedTuple):
  """Scales and offsets [N, F] of the blocks' norms, or rows of them: [..., N, F]."""

  scale: tf.Tensor
  offset: tf.Tensor


class Statistics(NamedTuple):
  """Moments to normalize with: means and variances [N, F] of the blocks' channels."""

  mean: tf.Tensor
  variance: tf.Tensor


def initial(seed: int, image_shape: Sequence[int], filters: int, blocks: int, num_classes: int
            ) -> dict[str, np.ndarray]:
  """Initial weights by Glorot's uniform rule, biases 0; a pure function of the arguments.

  Returns:
    "block1/kernel" [3, 3, C, F], "block1/bias" [F], ..., "head/kernel" [D, K], "head/bias" [K] with
    D = H // 2^N * (W // 2^N) * F.
  """
  height, width, channels = image_shape
  if min(height, width) < 2 ** blocks:
    raise ValueError(f"Images of {height}x{width} pixels vanish in {blocks} blocks, each of which "
                     f"halves them; use at least {2 ** blocks}x{2 ** blocks} pixels or fewer "
                     "blocks.")
  rng = np.random.default_rng(seed)
  weights = {}
  for block in range(1, blocks + 1):
    weights[f"block{block}/kernel"] = glorot(rng, 3, 3, channels, filters)
    weights[f"block{block}/bias"] = np.zeros([filters])
    channels = filters
  num_features = (height >> blocks) * (width >> blocks) * filters
  weights["head/kernel"] = glorot(rng, num_features, num_classes)
  weights["head/bias"] = np.zeros([num_classes])
  return weights


def glorot(rng: np.random.Generator, *shape: int) -> np.ndarray:
  """Draws a kernel [..., C, F] by Glorot's uniform rule."""
  window = math.prod(shape[:-2])
  limit = math.sqrt(6.0 / (window * (shape[-2] + shape[-1])))
  return rng.uniform(-limit, limit, shape)


def observe(weights: Weights, images: tf.Tensor, *, twice: bool = True,
            as_batch: bool = True, parts: int = 1) -> ObservedImages:
  """Returns prepared images as the functions below take them, for several passes over them.

  Args:
    weights: by the names of `initial`.
    images: prepared images.
    twice: whether second derivatives will be asked for.
    as_batch: whether they are normalized as one batch, not by given statistics.
    parts: into how many parts they are split; they stay one batch.
  """
  folds = as_batch and twice_norm.folds(weights["block1/kernel"])
  return ObservedImages(images, twice_norm.observe(images) if folds else None, twice, parts)


def apply(weights: Weights, norms_row: Norms, images: Images,
          statistics: Statistics | None = None) -> tf.Tensor:
  """Computes logits [B, K] of images [B, H, W, C], floats of the weights' type.

  Args:
    weights: by the names of `initial`.
    norms_row: scales and offsets, [N, F] each.
    images: prepared images, or what `observe` made of them.
    statistics: moments to normalize with; None: those of the images, as one batch.
  """
  codes = features(weights, norms_row, images, statistics)
  return tf.matmul(codes, weights["head/kernel"]) + weights["head/bias"]


def features(weights: Weights, norms_row: Norms, images: Images,
             statistics: Statistics | None = None) -> tf.Tensor:
  """Computes what the last layer takes, [B, D]; arguments as of `apply`."""
  seen = _observed(images)

  def normalize(xs: list[Any], block: int) -> Sequence[twice_norm.Given]:
    scale, offset = norms_row.scale[block], norms_row.offset[block]
    if isinstance(xs[0], twice_norm.Convolution):
      mean, variance = (_patch_moments(seen, xs[0].kernel) if statistics is None
                        else (statistics.mean[block], statistics.variance[block]))
      return [twice_norm.normalized(x.images, x.kernel, mean, variance, scale, offset) for x in xs]
    if statistics is not None:
      return [twice_norm.affine(x, statistics.mean[block], statistics.variance[block], scale,
                                offset) for x in xs]
    if len(xs) == 1:
      return [twice_norm.batch_norm(xs[0], scale, offset)]
    return twice_norm.norm_with_moments_of_parts(xs, scale, offset)[0]

  return _features(weights, seen, normalize)


def measure(weights: Weights, norms_row: Norms, images: Images) -> Statistics:
  """Moments with which `apply` normalizes these images [B, H, W, C] as one batch.

  They are computed without the fused kernel, which has no gradient for the moments it returns.
  """
  every, seen = [], _observed(images)

  def normalize(xs: list[Any], block: int) -> Sequence[twice_norm.Given]:
    x, = xs
    folded = isinstance(x, twice_norm.Convolution)
    mean, variance = _patch_moments(seen, x.kernel) if folded else twice_norm.moments(x)
    every.append((mean, variance))
    scale, offset = norms_row.scale[block], norms_row.offset[block]
    if folded:
      return [twice_norm.normalized(x.images, x.kernel, mean, variance, scale, offset)]
    return [twice_norm.affine(x, mean, variance, scale, offset)]

  _features(weights, seen._replace(parts=1), normalize)
  return Statistics(*map(tf.stack, zip(*every)))


def _observed(images: Images) -> ObservedImages:
  return images if isinstance(images, ObservedImages) else ObservedImages(images)


def _patch_moments(seen: ObservedImages, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Mean and variance [F] of the first convolution."""
  return twice_norm.patch_moments(seen.patches or twice_norm.observe(seen.images), kernel)


def _features(weights: Weights, seen: ObservedImages,
              normalize: Callable[[list[Any], int], Sequence[twice_norm.Given]]) -> tf.Tensor:
  """[B, H, W, C] -> [B, D]; normalize(parts, block) is the norm of a block."""
  blocks = itertools.count()
  passes = [_passing(weights, images, seen.twice)
            for images in twice_norm.split(seen.images, seen.parts)]
  every = twice_norm.finish_together(passes, lambda xs: normalize(xs, next(blocks)))
  return every[0] if len(every) == 1 else tf.concat(every, 0)


def _passing(weights: Weights, images: tf.Tensor, twice: bool) -> twice_norm.Pass:
  """The pass of images [B, H, W, C] to [B, D], which stops at each norm."""
  kernel, x, block = weights["block1/kernel"], images, 1
  if twice_norm.folds(kernel):
    values, offset = yield twice_norm.Convolution(images, kernel)
    x, block = kinks.rectify(kinks.max_pool(values, twice=twice) + offset), 2
  while f"block{block}/kernel" in weights:
    x = yield precision.conv2d(x, weights[f"block{block}/kernel"])
    x = kinks.rectify(kinks.max_pool(x, twice=twice))
    block += 1
  return tf.reshape(x, [x.shape[0], -1])


# Values that the pixels 0 and 255 are mapped to; or "imagenet": (x / 255 - mean) / deviation by
# channel, red, green and blue.
PixelRange = tuple[float, float] | str


def scaled(images: tf.Tensor, pixel_range: PixelRange, dtype: Any = tf.float32) -> tf.Tensor:
  """Scales pixels 0..255 of any type [..., C] to floats by `pixel_range`."""
  if isinstance(pixel_range, str):
    if pixel_range != "imagenet" or images.shape[-1] != 3:
      raise ValueError(f"pixel_range is {pixel_range!r} for images of {images.shape[-1]} channels; "
                       "allowed are a pair of numbers, and 'imagenet' for 3 channels.")
    mean, deviation = (np.array(values) for values in (
        image_input.IMAGENET_MEAN, image_input.IMAGENET_DEVIATION))
    return (tf.cast(images, dtype) * tf.constant(1 / (255 * deviation), dtype)
            - tf.constant(mean / deviation, dtype))
  low, high = pixel_range
  return tf.cast(images, dtype) * ((high - low) / 255.0) + low


@dataclasses.dataclass(frozen=True)
class Conv4:
  """The net of a learner: its sizes, its pixel scaling and the functions above.

  Attributes:
    filters: F.
    blocks: N.
    pixel_range: values that the pixels 0 and 255 are mapped to, or "imagenet".
    dtype: float64 is slow and serves to check gradients.
  """

  filters: int = 48
  blocks: int = 4
  pixel_range: PixelRange = (-1.0, 1.0)
  dtype: str = "float32"

  def initial(self, seed: int, image_shape: Sequence[int], num_classes: int
              ) -> dict[str, np.ndarray]:
    weights = initial(seed, image_shape, self.filters, self.blocks, num_classes)
    return {name: value.astype(self.dtype) for name, value in weights.items()}

  def initial_norms(self, num_rows: int) -> Norms:
    """Initial scales (1) and offsets (0), [R, N, F] each, as arrays."""
    shape = [num_rows, self.blocks, self.filters]
    return Norms(np.ones(shape, self.dtype), np.zeros(shape, self.dtype))

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Converts pixels 0..255 of any type to the input of `apply`."""
    return scaled(images, self.pixel_range, self.dtype)

  def observe(self, weights: Weights, images: tf.Tensor, *, twice: bool = True,
              as_batch: bool = True, parts: int = 1) -> ObservedImages:
    return observe(weights, images, twice=twice, as_batch=as_batch, parts=parts)

  def apply(self, weights: Weights, norms_row: Norms, images: Images,
            statistics: Statistics | None = None) -> tf.Tensor:
    return apply(weights, norms_row, images, statistics)

  def measure(self, weights: Weights, norms_row: Norms, images: Images) -> Statistics:
    return measure(weights, norms_row, images)


@dataclasses.dataclass(frozen=True)
class GroupedConv4:
  """E nets side by side.

  Attributes:
    net: the net of one episode.
    groups: E.
  """

  net: Conv4
  groups: int

  @property
  def dtype(self) -> str:
    """The type of weights and images."""
    return self.net.dtype

  def folded(self, parameters: Any) -> Any:
    """Returns `inner_loop.Parameters` with the values of an episode repeated for each."""
    def repeated(value: tf.Tensor) -> tf.Tensor:
      return tf.tile(value, [*[1] * (len(value.shape) - 1), self.groups])

    return parameters._replace(
        weights={name: repeated(value) for name, value in parameters.weights.items()},
        rates=self.groups * parameters.rates, norms=Norms(*map(repeated, parameters.norms)))

  def folded_images(self, images: tf.Tensor) -> tf.Tensor:
    """Returns images [E, ..., H, W, C] of episodes as [..., H, W, E * C]."""
    rank = len(images.shape)
    images = twice_norm.permuted(images, [*range(1, rank - 1), 0, rank - 1])
    return tf.reshape(images, [*images.shape[:-2], self.groups * images.shape[-1]])

  def folded_labels(self, labels: tf.Tensor) -> tf.Tensor:
    """Returns labels [E, ...] of episodes as [..., E]."""
    return tf.transpose(labels, [*range(1, len(labels.shape)), 0])

  def observe(self, weights: Weights, images: tf.Tensor, *, twice: bool = True,
              as_batch: bool = True, parts: int = 1) -> ObservedImages:
    """Returns images [B, H, W, E * C] for several passes over them."""
    return observe(weights, images, twice=twice, as_batch=as_batch, parts=parts)

  def apply(self, weights: Weights, norms_row: Norms,
            images: Images,
            statistics: Statistics | None = None) -> tf.Tensor:
    """Computes logits [B, E, K] of images [B, H, W, E * C]."""
    codes = features(weights, norms_row, images, statistics)
    size, groups = codes.shape[0], self.groups
    width = weights["block1/kernel"].shape[-1] // groups
    by_episode = twice_norm.permuted(
        tf.reshape(codes, [size, -1, groups, width]), [2, 0, 1, 3])
    kernel = weights["head/kernel"]
    kernels = twice_norm.permuted(
        tf.reshape(kernel, [kernel.shape[0], groups, -1]), [1, 0, 2])
    logits = tf.matmul(tf.reshape(by_episode, [groups, size, kernel.shape[0]]), kernels)
    return twice_norm.permuted(logits, [1, 0, 2]) + tf.reshape(
        weights["head/bias"], [groups, -1])

  def measure(self, weights: Weights, norms_row: Norms,
              images: Images) -> Statistics:
    """Computes the statistics [N, E * F] of the episodes' images, each by itself."""
    return measure(weights, norms_row, images)
