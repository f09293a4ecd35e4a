# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoders of `tf.keras.applications` with weights from a local file; nothing is downloaded."""

from __future__ import annotations

import inspect
import os
import sys

import tensorflow as tf

from suite.models import model_files


def names() -> list[str]:
  """Names of all Keras applications, sorted."""
  return sorted(name for name, value in vars(tf.keras.applications).items()
                if inspect.isfunction(value))


def application(name: str, weights: str, *, image_size: int = 224) -> tf.keras.Model:
  """Builds an encoder: pixels 0..255 [B, S, S, 3] -> features [B, D], the last feature map's mean.

  Args:
    name: name of a Keras application, for example "ResNet50".
    weights: an .h5 file as Keras publishes it, with or without the classifier (1,000 classes).
    image_size: S.
  """
  if name not in names():
    raise ValueError(f"Unknown Keras application {name!r}; allowed are {', '.join(names())}.")
  if not weights:
    raise ValueError(f"Keras application {name!r} was given no weights. Nothing is downloaded: "
                     "fetch its .h5 file from the Keras site and name it with --weights FILE.")
  if not os.path.isfile(weights):
    raise FileNotFoundError(f"There is no file of weights {weights!r}; give the .h5 file of "
                            f"{name}.")
  make, shape = getattr(tf.keras.applications, name), (image_size, image_size, 3)
  net = make(weights=None, include_top=False, pooling="avg", input_shape=shape)
  try:
    model_files.load_weights(net, weights)
  except model_files.ModelFileError:
    raise
  except (ValueError, OSError) as first:  # They may be those of the net with its classifier.
    try:
      whole = make(weights=None, include_top=True, input_shape=None)
      model_files.load_weights(whole, weights)
    except (ValueError, OSError):
      raise ValueError(f"The weights in {weights} are not those of Keras application {name!r}: "
                       f"{first}. Give the file of this very application.") from first
    body = {layer.name: layer for layer in whole.layers}
    for layer in net.layers:
      if layer.weights:
        layer.set_weights(body[layer.name].get_weights())
  inputs = tf.keras.Input(shape, dtype=tf.float32, name="image")
  preprocess = sys.modules[make.__module__].preprocess_input  # Families scale pixels differently.
  return tf.keras.Model(inputs, net(preprocess(inputs)), name=name.lower())


def backbone(image_shape: tuple[int, int, int], *, name: str, weights: str) -> tf.keras.Model:
  """Builds the encoder for images (S, S, 3), as learners ask for a backbone; see `application`."""
  return application(name, weights, image_size=image_shape[0])
