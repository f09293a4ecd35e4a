# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Text tower of CLIP: token ids [B, L] -> embeddings [B, E], not normalized."""

from __future__ import annotations

import tensorflow as tf

from suite.models.clip import architecture
from suite.models.clip import clip_layers


def text_tower(clip: architecture.Clip) -> tf.keras.Model:
  """Builds the text tower without weights.

  The embedding is read at the end token, the highest id of the vocabulary, so that the padding
  after it has no effect.
  """
  text = clip.text
  inputs = tf.keras.Input((text.length,), dtype=tf.int32, name="tokens")
  x = tf.keras.layers.Embedding(text.vocabulary, text.body.width, name="embedding")(inputs)
  x = clip_layers.Positions(name="positions")(x)
  x = clip_layers.blocks(x, text.body, causal=True)
  x = clip_layers.norm("final_norm")(x)
  x = tf.gather(x, tf.argmax(inputs, axis=1), batch_dims=1)
  x = tf.keras.layers.Dense(clip.embedding, use_bias=False, name="projection")(x)
  return tf.keras.Model(inputs, x, name="clip_text")
