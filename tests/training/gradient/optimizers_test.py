# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import copy

import numpy as np
import pytest
import tensorflow as tf

from suite.models import vit
from suite.training.gradient import optimizers
from suite.training.gradient import schedules


def kernel(value=1.0):
  return tf.Variable([value], name="dense/kernel")


def test_nesterov_by_hand():
  # Gradient 1, rate 0.1: v = -0.1, w += -0.1 + 0.9 v; then v = -0.19, w += -0.1 + 0.9 v.
  w, optimizer = kernel(), optimizers.sgd_nesterov(0.1)
  optimizer.apply_gradients([(tf.ones([1]), w)])
  assert w.numpy()[0] == pytest.approx(1.0 - 0.19)
  optimizer.apply_gradients([(tf.ones([1]), w)])
  assert w.numpy()[0] == pytest.approx(1.0 - 0.19 - 0.271)


def test_no_momentum_is_plain_descent():
  w, optimizer = kernel(), optimizers.sgd_nesterov(0.1, momentum=0.0)
  for _ in range(2):
    optimizer.apply_gradients([(tf.ones([1]), w)])
  assert w.numpy()[0] == pytest.approx(0.8)


def test_rate_of_the_schedule_is_read_inside_the_compiled_step():
  peak = tf.Variable(0.1)
  w, optimizer, traces = kernel(), optimizers.sgd_nesterov(schedules.Constant(peak), 0.0), []

  @tf.function(autograph=False)
  def step():
    traces.append(1)
    optimizer.apply_gradients([(tf.ones([1]), w)])

  step()
  num_traces = len(traces)  # the first call traces twice: variables are made in the first
  peak.assign(0.5)
  step()
  assert w.numpy()[0] == pytest.approx(1.0 - 0.1 - 0.5) and len(traces) == num_traces


@pytest.mark.parametrize("make", [
    lambda: optimizers.sgd_nesterov(0.1),
    lambda: optimizers.sgd_nesterov(schedules.WarmupCosine(0.1, 1, 5)),
    lambda: optimizers.sgdw(0.1, 0.01), lambda: optimizers.adamw(schedules.Constant(0.1), 0.01)])
def test_reset_gives_the_first_steps_again_without_a_new_graph(make):
  w, optimizer, traces = kernel(), make(), []

  @tf.function(autograph=False)
  def step():
    traces.append(1)
    optimizer.apply_gradients([(tf.ones([1]), w)])

  def three_steps():
    w.assign([1.0])
    out = []
    for _ in range(3):
      step()
      out.append(w.numpy()[0])
    return out

  first = three_steps()
  num_traces = len(traces)
  optimizers.reset(optimizer)
  assert three_steps() == first and len(traces) == num_traces
  assert optimizer.iterations.numpy() == 3


def test_only_kernels_decay():
  yes = ["conv/kernel", "block1/attention/query/kernel", "kernel", "dw/depthwise_kernel",
         "dense/kernel/replica_1"]
  no = ["conv/bias", "bn/gamma", "bn/beta", "embed/embeddings", "tokens/class_token",
        "tokens/position_embedding", "kernel/bias", "mykernel"]
  for name in yes + no:
    assert optimizers.is_decayable(tf.Variable([1.0], name=name)) == (name in yes), name


def test_what_decays_in_a_vision_transformer():
  model = vit.vit((16, 16, 3), layers=1, width=8, heads=2, mlp_size=8)
  decayable = [v for v in model.trainable_variables if optimizers.is_decayable(v)]
  assert len(decayable) == 1 + 4 + 2  # patches; query, key, value, output; two dense layers
  assert all(len(v.shape) > 1 for v in decayable)


def test_coupled_decay_is_added_to_gradients_of_kernels_only():
  w, b = kernel(2.0), tf.Variable([3.0], name="dense/bias")
  got = optimizers.with_coupled_decay([tf.ones([1]), tf.ones([1])], [w, b], 0.1)
  np.testing.assert_allclose(np.ravel(got), [1.2, 1.0])


def test_coupled_decay_leaves_missing_gradients_missing():
  assert optimizers.with_coupled_decay([None], [kernel()], 0.1) == [None]


def test_coupled_decay_enters_the_momentum():
  # w = 1, gradient 0, rate 0.1, decay 0.5. First step: g = 0.5, v = -0.05, w = 1 - 0.05 - 0.045 =
  # 0.905. Second: g = 0.4525, v = -0.04525 - 0.045 = -0.09025, w = 0.905 - 0.04525 - 0.081225.
  w, optimizer = kernel(), optimizers.sgd_nesterov(0.1)
  for _ in range(2):
    gradients = optimizers.with_coupled_decay([tf.zeros([1])], [w], 0.5)
    optimizer.apply_gradients(zip(gradients, [w]))
  assert w.numpy()[0] == pytest.approx(0.778525)


def test_replicas_share_the_decay():
  share = optimizers.with_coupled_decay([tf.zeros([1])], [kernel()], 0.1, num_replicas=2)
  assert share[0].numpy()[0] == pytest.approx(0.05)


@pytest.mark.parametrize("make", [optimizers.sgdw, optimizers.adamw])
@pytest.mark.parametrize("rate", [0.1, schedules.Constant(0.1)])
def test_decoupled_decay_shrinks_kernels_by_rate_times_decay(make, rate):
  w, b, optimizer = kernel(), tf.Variable([1.0], name="dense/bias"), make(rate, 0.5)
  for _ in range(2):
    optimizer.apply_gradients([(tf.zeros([1]), w), (tf.zeros([1]), b)])
  assert w.numpy()[0] == pytest.approx(0.95 ** 2) and b.numpy()[0] == 1.0


def test_decoupled_decay_follows_the_schedule():
  # Warm-up over 2 steps to 1.0: rates 0 and 0.5.
  w, optimizer = kernel(), optimizers.sgdw(schedules.WarmupCosine(1.0, 2, 10), 0.1)
  optimizer.apply_gradients([(tf.zeros([1]), w)])
  assert w.numpy()[0] == 1.0
  optimizer.apply_gradients([(tf.zeros([1]), w)])
  assert w.numpy()[0] == pytest.approx(0.95)


def test_decoupled_decay_stays_out_of_the_momentum():
  w, optimizer = kernel(), optimizers.sgdw(0.1, 0.5)
  optimizer.apply_gradients([(tf.zeros([1]), w)])
  assert optimizer.get_slot(w, "momentum").numpy()[0] == 0.0


@pytest.mark.parametrize(
    "make", [lambda: optimizers.sgd_nesterov(0.1), lambda: optimizers.sgdw(0.1, 0.5)])
def test_velocity_and_step_are_in_a_checkpoint(make, tmp_path):
  w, optimizer = kernel(), make()
  optimizer.apply_gradients([(tf.ones([1]), w)])
  path = tf.train.Checkpoint(w=w, optimizer=optimizer).save(str(tmp_path / "state"))
  optimizer.apply_gradients([(tf.ones([1]), w)])

  v, other = kernel(), make()
  restoring = tf.train.Checkpoint(w=v, optimizer=other).restore(path)
  other.apply_gradients([(tf.ones([1]), v)])  # legacy optimizers restore velocities when made
  restoring.assert_existing_objects_matched()
  assert other.iterations.numpy() == 2 and v.numpy()[0] == pytest.approx(w.numpy()[0])


MAKES = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.5, momentum=0.9),
    "adam": lambda: tf.keras.optimizers.Adam(0.5),
    "legacy": lambda: tf.keras.optimizers.legacy.Adam(0.5),
}


def steps_of(updates, variables, rates):
  """Where steps with the gradients 1 and 2 lead, each at a rate."""
  for rate in rates:
    updates.apply([tf.ones([1]), 2 * tf.ones([1])], variables,
                  None if rate is None else tf.constant(rate))
  return [v.numpy()[0] for v in variables]


def two():
  return [kernel(1.0), tf.Variable([3.0], name="dense/bias")]


@pytest.mark.parametrize("name", MAKES)
def test_updates_are_keras_s_own_at_the_rate_of_each_step(name):
  variables, others, keras = two(), two(), MAKES[name]()
  found = steps_of(optimizers.KerasUpdates(MAKES[name](), variables), variables, [0.1, 0.3, 0.2])
  for rate in (0.1, 0.3, 0.2):
    keras.learning_rate.assign(rate) if name != "legacy" else setattr(keras, "learning_rate", rate)
    keras.apply_gradients(zip([tf.ones([1]), 2 * tf.ones([1])], others))
  np.testing.assert_allclose(found, [v.numpy()[0] for v in others], rtol=1e-6)
  assert found[0] != 1.0


@pytest.mark.parametrize("name", MAKES)
def test_a_reset_keeps_nothing_and_its_state_is_all_there_is(name):
  variables = two()
  updates = optimizers.KerasUpdates(MAKES[name](), variables)
  first = steps_of(updates, variables, [0.1, 0.2])
  saved = [v.numpy() for v in [*variables, *updates.state]]
  third = steps_of(updates, variables, [0.1])
  for variable, value in zip([*variables, *updates.state], saved):
    variable.assign(value)
  assert steps_of(updates, variables, [0.1]) == third
  updates.reset()
  for variable, value in zip(variables, (1.0, 3.0)):
    variable.assign([value])
  assert steps_of(updates, variables, [0.1, 0.2]) == first


def test_updates_without_a_rate_follow_the_optimizer_s_own_schedule():
  variables = two()
  updates = optimizers.KerasUpdates(
      optimizers.sgd_nesterov(schedules.WarmupCosine(1.0, 2, 10), 0.0), variables)
  assert steps_of(updates, variables, [None, None]) == pytest.approx([0.5, 2.0])


def test_updates_decay_kernels_within_the_momentum():
  variables = two()
  updates = optimizers.KerasUpdates(
      optimizers.sgd_nesterov(0.1), variables, coupled_decay=0.5)
  for _ in range(2):
    updates.apply([tf.zeros([1])] * 2, variables, None)
  # As in test_coupled_decay_enters_the_momentum.
  assert [v.numpy()[0] for v in variables] == pytest.approx([0.778525, 3.0])


def test_a_variable_without_a_gradient_may_be_left_out():
  variables = two()
  updates = optimizers.KerasUpdates(tf.keras.optimizers.SGD(0.5), variables)
  updates.apply([tf.ones([1])], variables[1:], tf.constant(0.25))
  assert [v.numpy()[0] for v in variables] == [1.0, 2.75]


@pytest.mark.parametrize("name", MAKES)
def test_a_spec_makes_an_optimizer_for_each_learner(name):
  spec, variables = optimizers.Keras(MAKES[name]), two()
  one, other = spec.build(variables), spec.build(two())
  steps_of(one, variables, [0.1])
  assert one.optimizer is not other.optimizer and not other.optimizer.iterations.numpy()
  assert not spec.keep and optimizers.Keras(MAKES[name], keep=True).keep


def test_a_spec_of_an_instance_can_be_copied_before_it_makes_one():
  copied = copy.deepcopy(optimizers.Keras(tf.keras.optimizers.SGD(0.1, 0.9)))
  variable = tf.Variable([1.0])
  copied.build([variable]).apply([tf.constant([1.0])], [variable], tf.constant(0.5))
  np.testing.assert_allclose(variable, [0.5])


def test_a_spec_that_makes_no_such_optimizer_is_refused():
  with pytest.raises(ValueError, match="made str .'adam'.; it must make a tf.keras.optimizers.Opt"):
    optimizers.Keras(lambda: "adam").build(two())


def test_a_schedule_of_the_optimizer_is_followed_and_the_learners_rate_is_not_read():
  stairs = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.5, 0.25])
  spec = optimizers.Keras(tf.keras.optimizers.SGD(stairs))
  variables = [tf.Variable([1.0], name="kernel")]
  updates = spec.build(variables)
  assert spec.own_rate() is None
  for expected in (0.5, 0.25):  # By hand: 1 - 0.5, then - 0.25, with gradients of 1.
    updates.apply([tf.constant([1.0])], variables, tf.constant(100.0))
    assert float(variables[0][0]) == expected
  updates.reset()
  updates.apply([tf.constant([1.0])], variables, tf.constant(100.0))
  assert float(variables[0][0]) == -0.25  # The schedule began again.


@pytest.mark.parametrize("given", [
    tf.keras.optimizers.Adam(0.003, beta_1=0.8),
    lambda: tf.keras.optimizers.Adam(0.003, beta_1=0.8)])
def test_a_copy_of_an_instance_has_its_settings_and_no_xla(given):
  made = optimizers.own(given, "x")
  assert (made.beta_1, made.jit_compile) == (0.8, False)
  assert made is not given
  assert optimizers.own_rate(made) == pytest.approx(0.003)
  sched = schedules.Constant(0.5)
  assert optimizers.own_rate(optimizers.own(given, "x", schedule=sched)) is None


TWO_REPLICAS = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from suite.training.gradient import optimizers, schedules

def train(strategy, replicas, make):
  with strategy.scope():
    peak = tf.Variable(0.1)
    w, b = tf.Variable([1.0, 2.0], name="d/kernel"), tf.Variable([1.0], name="d/bias")
    optimizer = make(schedules.WarmupCosine(peak, 1, 6))

  @tf.function
  def step():
    def one():
      gradients = [w / replicas, b / replicas]  # each replica holds its part of the global batch
      if isinstance(optimizer, tf.keras.optimizers.SGD):
        gradients = optimizers.with_coupled_decay(gradients, [w, b], 0.5, num_replicas=replicas)
      optimizer.apply_gradients(zip(gradients, [w, b]))
    strategy.run(one)

  for _ in range(3):
    step()
  peak.assign(0.3)
  step()
  copies = strategy.experimental_local_results(w)
  assert len(copies) == replicas
  return [tf.concat([copy, b], 0) for copy in copies]

for make in (lambda r: optimizers.sgd_nesterov(r), lambda r: optimizers.sgdw(r, 0.5),
             lambda r: optimizers.adamw(r, 0.5)):
  alone = train(tf.distribute.OneDeviceStrategy("CPU:0"), 1, make)[0]
  for copy in train(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]), 2, make):
    tf.debugging.assert_near(copy, alone, atol=1e-6)
print("agree")
"""


def test_two_replicas_do_what_one_does(python):
  # In a separate process: the CPU must be split before TensorFlow's first op.
  result = python.run(["-c", TWO_REPLICAS])
  assert result.stdout.split()[-1:] == ["agree"], result.stderr[-2000:]


@pytest.mark.parametrize("name", ["Adagrad", "Ftrl"])
def test_state_that_does_not_begin_at_zero_begins_again_as_it_was(name):
  variable = tf.Variable([1.0, -2.0])
  updates = optimizers.KerasUpdates(
      optimizers.own(getattr(tf.keras.optimizers, name)(0.1), "x"), [variable])
  ends = []
  for _ in range(2):
    variable.assign([1.0, -2.0])
    for _ in range(2):
      updates.apply([tf.constant([0.3, -0.4])], [variable], None)
    ends.append(variable.numpy())
    updates.reset()
  np.testing.assert_array_equal(*ends)
