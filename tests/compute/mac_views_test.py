# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MACs of training: by hand, against counted graphs, and the figures of FLUID's tables."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.models import conv4
from suite.models import resnet

# FLUID's sequence 5, an update of 4 epochs every 5000 samples.
SAMPLES, PASSES = 89_921, mac_views.passes(89_921, 5000, 4)
# One image of 224 x 224: ResNet-18 with its batch norms, ResNet-50, conv-4.
R18, R50, CONV4 = 1_818_600_000, 4_130_000_000, 693_600_000


def chain(*trained):
  """Layers of 1, 10, 100, ... MACs."""
  return [mac_views.Layer(str(i), 10**i, bool(t)) for i, t in enumerate(trained)]


@pytest.mark.parametrize("trained, weights, inputs, fixed", [
    ((1, 1, 1), 111, 110, 0),  # No gradient of the image.
    ((0, 1, 1), 110, 100, 1),
    ((0, 0, 1), 100, 0, 11),
    ((0, 1, 0), 10, 100, 1),  # A frozen layer above a trained one passes its gradient on.
    ((0, 0, 0), 0, 0, 111)])
def test_gradients_of_a_chain(trained, weights, inputs, fixed):
  found = mac_views.costs(chain(*trained))
  assert found == mac_views.ImageMacs(111, fixed, weights, inputs)
  assert found.uncached_pass == 111 + weights + inputs
  assert found.cached_pass == 111 + weights + inputs - fixed


def test_two_branches_from_the_same_frozen_input():
  layers = [mac_views.Layer("stem", 1, False), mac_views.Layer("conv", 10, True, ("stem",)),
            mac_views.Layer("shortcut", 100, True, ("stem",)),
            mac_views.Layer("head", 1000, True, ("conv", "shortcut"))]
  assert mac_views.costs(layers) == mac_views.ImageMacs(1111, fixed=1, weights=1110, inputs=1000)


def test_what_moves_without_a_gradient_is_not_stored():
  layers = [mac_views.Layer("stem", 1, False), mac_views.Layer("keys", 10, False, moves=True),
            mac_views.Layer("head", 100)]
  assert mac_views.costs(layers) == mac_views.ImageMacs(111, fixed=1, weights=100, inputs=100)


def test_layers_out_of_order_are_named():
  with pytest.raises(ValueError, match="input 'b', which is not listed before"):
    mac_views.costs([mac_views.Layer("a", 1, True, ("b",)), mac_views.Layer("b", 1)])
  with pytest.raises(ValueError, match="Two layers are called 'a'"):
    mac_views.costs([mac_views.Layer("a", 1), mac_views.Layer("a", 1)])


def test_passes():
  assert mac_views.passes(89_921, 5000, 4) == 3_060_000  # 17 updates.
  assert mac_views.passes(100_000, 5000, 4) == 4_200_000  # 20, the non-stationary variant.
  assert mac_views.passes(425 * 18, 425, 4) == 4 * 425 * 171  # Tiny ImageNet.
  assert mac_views.passes(4, 5, 4) == 0
  assert mac_views.passes_over([1, 2, 4], 3) == 21


def petamacs(name, macs, trained, **kwargs):
  """In the paper's unit: 10^6 GMACs."""
  backbone = [mac_views.Layer("backbone", macs, trained)]
  values = dict(num_samples=SAMPLES, num_passes=PASSES)
  return mac_views.views(backbone, **{**values, **kwargs})[f"macs_{name}"] / 1e15


def test_the_papers_column_for_resnet_18():
  assert round(petamacs("paper_1x_uncached", R18, False), 2) == 5.73  # Fine-tuning, ET, ...
  assert round(petamacs("paper_1x_cached", R18, False), 2) == 0.16
  assert round(petamacs("paper_1x_uncached", R18, True), 2) == 11.29  # Standard training, DER.
  assert petamacs("paper_1x_cached", R18, True) == petamacs("paper_1x_uncached", R18, True)
  assert round(petamacs("exact_uncached", R18, False, num_passes=0), 2) == 0.16  # Nearest mean.
  # The paper's LwF is twice and four times standard training.
  standard = round(petamacs("paper_1x_uncached", R18, True), 2)
  assert (round(2 * standard, 2), round(4 * standard, 2)) == (22.58, 45.16)


def test_the_papers_column_for_resnet_50_and_conv_4():
  # Its g is rounded here, so the last digit may differ: 13.03, 38.36 and 0.36 are printed.
  assert petamacs("paper_2x_uncached", R50, False) == pytest.approx(13.03, rel=2e-3)
  assert petamacs("paper_2x_uncached", R50, True) == pytest.approx(38.36, rel=2e-3)
  assert petamacs("paper_2x_cached", R50, False) == pytest.approx(0.36, abs=0.015)
  assert round(petamacs("paper_1x_cached", CONV4, False), 2) == 0.06  # Prototypical networks.
  assert petamacs("paper_1x_uncached", CONV4, False) == pytest.approx(2.20, rel=1e-2)  # MAML.


def test_the_two_conventions_differ_by_half():
  # What the paper's ResNet-18 would cost by its own rule for ResNet-50, and the stationary figure
  # it prints for the non-stationary sequence.
  assert round(petamacs("paper_2x_uncached", R18, True), 1) == 16.9
  moving = petamacs("paper_1x_uncached", R18, False, num_samples=100_000, num_passes=4_200_000)
  assert round(moving, 1) == 7.8


def test_exact_view_with_a_head():
  # 100 and 10 MACs, the backbone frozen; 2 answers, 3 passes, 1 teacher pass.
  backbone, head = [mac_views.Layer("b", 100, False)], [mac_views.Layer("h", 10)]
  found = mac_views.views(backbone, head, num_samples=2, num_passes=3, teacher_passes=1)
  assert found["macs_exact_uncached"] == 2 * 110 + 3 * (110 + 10) + 110
  assert found["macs_exact_cached"] == 2 * 110 + 3 * (10 + 10) + 10  # The teacher's head.
  assert found["macs_paper_1x_cached"] == 2 * 100
  assert found["macs_paper_1x_uncached"] == 2 * 100 + 3 * 100 + 100
  assert sorted(found) == sorted(
      f"macs_{v}_{c}" for v in ("exact", "paper_1x", "paper_2x") for c in ("cached", "uncached"))


@pytest.mark.parametrize("trained, cached", [
    ((1, 1), 111),  # All of the net changes: the teacher's pass begins at the image.
    ((0, 1), 110), ((1, 0), 111), ((0, 0), 100)])
def test_a_teachers_pass_begins_above_what_never_changes(trained, cached):
  # Backbone of 1 and 10 MACs, head of 100; 5 teacher passes and nothing else.
  backbone, head = chain(*trained), [mac_views.Layer("head", 100)]
  found = mac_views.views(backbone, head, num_samples=0, num_passes=0, teacher_passes=5)
  assert found["macs_exact_cached"] == 5 * cached
  assert found["macs_exact_uncached"] == 5 * 111
  both = found["macs_paper_1x_cached"], found["macs_paper_1x_uncached"]
  assert both == (5 * 11 if all(trained) else 0, 5 * 11)


def test_forward_macs_of_the_papers_nets():
  layers = mac_views.model_layers(resnet.resnet18((224, 224, 3), blocks=(1, 1, 1, 1)))
  # The second block of a stage: two convolutions, which have as many MACs in every stage.
  second = 4 * 2 * 9 * (56 * 64) ** 2
  assert mac_views.costs(layers).forward + second + 512 * 1000 == pytest.approx(1.8141e9, rel=1e-4)
  assert mac_views.costs(mac_views.model_layers(conv4.conv4((224, 224, 3)))).forward == (
      pytest.approx(CONV4, rel=1e-4))
  assert mac_views.costs(mac_views.model_layers(conv4.conv4((64, 64, 3)))).forward == (
      pytest.approx(56.6e6, rel=1e-3))


def gradient_macs(model, names, batch=2):
  """MACs of a forward and a backward pass through the traced graph, of one image."""
  variables = [w for layer in model.layers if layer.name in names for w in layer.trainable_weights]

  @tf.function(autograph=False)
  def step(images):
    with tf.GradientTape() as tape:
      loss = tf.reduce_sum(model(images) ** 2)
    return tape.gradient(loss, variables)

  spec = tf.TensorSpec([batch, *model.input_shape[1:]], model.input.dtype)
  return flops.count(step.get_concrete_function(spec)).macs // batch


def weighted(model):
  return [layer.name for layer in model.layers if layer.weights]


@pytest.fixture(name="residual", scope="module")
def _residual():
  return resnet.resnet18((32, 32, 3), width=0.125, blocks=(1, 2))


# All; before a shortcut with a convolution; a block with one without, and all but its first layer.
@pytest.mark.parametrize("first", [0, 5, 12, 13, -1])
def test_as_counted_on_a_traced_residual_net(first, residual):
  names = weighted(residual)[first:]
  found = mac_views.costs(mac_views.model_layers(residual, names))
  assert found.uncached_pass == gradient_macs(residual, names)


def test_the_models_own_flags_say_what_is_trained():
  model = conv4.conv4((16, 16, 3), filters=4)
  model.get_layer(weighted(model)[0]).trainable = False
  layers = mac_views.model_layers(model)
  assert [layer.trained for layer in layers][:2] == [False, True]
  with pytest.raises(ValueError, match="has no layer 'fc' with weights; allowed are block1"):
    mac_views.model_layers(model, ["fc"])


def test_a_layer_without_a_rule_is_named():
  inputs = tf.keras.Input([4], dtype=tf.int32)
  model = tf.keras.Model(inputs, tf.keras.layers.Embedding(3, 2, name="table")(inputs))
  with pytest.raises(ValueError, match="No rule for the MACs of Embedding 'table'"):
    mac_views.model_layers(model)
