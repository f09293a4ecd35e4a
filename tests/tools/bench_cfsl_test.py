# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The bench of continual few-shot learning: both sides do the same work, and the table is right."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

TOOLS = pathlib.Path(__file__).parents[2] / "tools" / "bench"
# A Python with PyTorch, if this one has none.
TORCH_PYTHON = os.environ.get("LIFELONG_TORCH_PYTHON", sys.executable)


@pytest.fixture(name="cases", scope="module")
def _cases():
  return _imported("cfsl_cases")


@pytest.fixture(name="bench", scope="module")
def _bench():
  return _imported("bench_cfsl")


@pytest.fixture(name="suite_side", scope="module")
def _suite_side():
  return _imported("suite_cfsl")


def _imported(name):
  """As the tools see each other."""
  sys.path.insert(0, str(TOOLS))
  try:
    return __import__(name)
  finally:
    sys.path.remove(str(TOOLS))


def _tiny(cases, make, **more):
  return dataclasses.replace(
      cases.CASES["maml_train"], make=make, classes=10, per_class=6, **{"size": 16, **more})


# --- The table ---


def _side(bench, rates, start=1.0):
  return bench.Measured({"seconds_start": start, "version": "v"}, [
      {"tasks_per_second": rate, "peak_gib": 0.5, "seconds": 1.0, "seconds_cpu": 1.0}
      for rate in rates])


def test_a_row_has_medians_ranges_and_the_median_of_the_ratios(bench, cases):
  case = cases.Case("title", "maml_train")
  # The ratios of the rounds are 2, 6 and 2; that of the medians would be 3.
  sides = {"suite": _side(bench, [20, 30, 40], start=4.0), "PyTorch": _side(bench, [10, 5, 20])}
  assert bench.line(case, sides, 0.25) == (
      "| title | tasks/s | 30 [20 - 40] | 10 [5 - 20] | 2.00 x as fast | 4.0 / 1.0 | 0.50 / 0.50 "
      "| 0.25 |")


def test_a_ratio_beside_other_work_says_so(bench, cases):
  sides = {"suite": _side(bench, [20]), "PyTorch": _side(bench, [10])}
  assert "| 2.00 x as fast (busy) |" in bench.line(cases.Case("t", "maml_train"), sides, 1.2)


def test_seconds_for_many_tasks_are_fewer_where_the_rate_is_higher(bench, cases):
  case = cases.Case("title", "proto_test", as_seconds=600)
  row = bench.line(case, {"suite": _side(bench, [600, 300, 1200])}, None)
  assert row.startswith("| title | s for 600 tasks | 1 [0.5 - 2] | - |  | 1.0 / - |")


def test_the_busy_time_of_the_usable_cores_is_read(bench, tmp_path):
  core = min(os.sched_getaffinity(0))
  rows = "".join(f"cpu{i} {100 if i == core else 0} 20 30 5000 7 1 2 3 0 0\n"
                 for i in range(os.cpu_count()))
  (tmp_path / "stat").write_text(f"cpu  9 9 9 9 9 9 9 9\n{rows}intr 1 2\n")
  others = 56 * (len(os.sched_getaffinity(0)) - 1)  # Idle and iowait are not busy.
  assert bench.busy_seconds(str(tmp_path / "stat")) * os.sysconf("SC_CLK_TCK") == 156 + others
  assert bench.busy_seconds(str(tmp_path / "nothing")) is None


def test_an_unknown_case_is_named_with_those_there_are(cases):
  with pytest.raises(ValueError, match="No such case: mamal; there are maml_train, "):
    cases.chosen("maml_train,mamal")
  assert cases.chosen("proto_train,maml_train") == ["proto_train", "maml_train"]


def test_without_torch_it_says_what_to_do(bench, tmp_path):
  python = tmp_path / "python"
  python.write_text("#!/bin/sh\nexit 1\n")
  python.chmod(0o755)
  args = argparse.Namespace(cases=None, without_torch=False, torch_python=str(python))
  with pytest.raises(SystemExit, match=r"has no PyTorch. Install it .*--without_torch"):
    bench.run(args, "a machine")


def test_a_worker_that_dies_is_named(bench):
  worker = bench.Worker([sys.executable, "-c", "raise SystemExit(3)"])
  try:
    with pytest.raises(RuntimeError, match="ended with status 3"):
      worker.answer()
  finally:
    worker.close()


def test_sides_take_turns_and_one_that_lacks_the_case_is_left_out(bench, tmp_path):
  log = tmp_path / "log"
  body = textwrap.dedent("""
      import json, sys
      name, log = sys.argv[1:]
      print(json.dumps({"version": name, "missing": name == "c"}), flush=True)
      for number, _ in enumerate(sys.stdin):
        with open(log, "a") as file:
          file.write(name)
        print(json.dumps({"tasks_per_second": number, "seconds_cpu": 0.0}), flush=True)
      """)
  commands = {name: [sys.executable, "-c", body, name, str(log)] for name in "abc"}
  sides, others = bench.measure(commands, 3)
  assert list(sides) == ["a", "b"] and sides["b"].rates == [0, 1, 2]
  assert log.read_text() == "abbaab"
  assert others is None or others >= 0.0


# --- The suite's side ---


@pytest.mark.parametrize("make", ["proto_train", "proto_test", "episodes"])
def test_the_suite_takes_steps(suite_side, cases, make):
  step = suite_side.MAKERS[make](_tiny(cases, make, num_tasks=2))
  expected = 8 if make == "proto_train" else 2  # Several updates are taken in a call.
  assert step() == expected and step() == expected


def test_a_worker_serves_rounds_until_its_input_ends(python):
  # A fork has the input of the one that it is forked from.
  code = f"""
import io, runpy, sys
sys.stdin, sys.path[:0] = io.StringIO("\\n\\n"), [{str(TOOLS)!r}]
runpy.run_path({str(TOOLS / "suite_cfsl.py")!r}, run_name="__main__")"""
  done = python.run(["-c", code, "--case", "episodes", "--seconds", "0.02", "--threads", "1"])
  assert not done.returncode, done.stderr[-3000:]
  start, *rounds = [json.loads(line) for line in done.stdout.splitlines()]
  assert "1 thread(s) within an operation, 1 between them" in start["version"]
  assert len(rounds) == 2 and all(one["tasks_per_second"] > 0 for one in rounds)


# --- Both sides are the same mathematics ---

_CHECK = """
import dataclasses, sys
import numpy as np
import torch
import cfsl_cases, torch_cfsl

given, name, path = np.load(sys.argv[1], allow_pickle=False), sys.argv[2], sys.argv[3]
torch.manual_seed(0)
case = dataclasses.replace(cfsl_cases.CASES["maml_train"], size=16, num_sets=int(sys.argv[4]))
learner = torch_cfsl.LEARNERS[name](case)
tensors = [torch.from_numpy(given[f"{i}"]) for i in range(4)]
parameters = list(learner.parameters())
assert len(parameters) + 4 == len(given.files), (len(parameters), given.files)
with torch.no_grad():
  for i, parameter in enumerate(parameters):
    value = torch.from_numpy(given[f"parameter{i}"])
    assert value.squeeze().shape == parameter.squeeze().shape, (i, value.shape, parameter.shape)
    parameter.copy_(value.reshape(parameter.shape))
loss = learner.loss(*tensors)
gradients = torch.autograd.grad(loss, parameters)
np.savez(path, loss=loss.item(), **{f"{i}": g.numpy() for i, g in enumerate(gradients)})
"""


@pytest.fixture(name="torch_python", scope="module")
def _torch_python():
  if subprocess.run([TORCH_PYTHON, "-c", "import torch"], check=False,
                    capture_output=True).returncode:
    pytest.skip(f"{TORCH_PYTHON} has no PyTorch; set LIFELONG_TORCH_PYTHON to one that has")
  return TORCH_PYTHON


def _by_name(learner, values):
  """Arrays in the order of the learner's trainable variables, by name; its embedding's apart."""
  embeddings = [m for m in learner.submodules if type(m).__name__ == "Embedding"]
  inside = {id(v) for module in embeddings for v in module.variables}
  return {("embedding/" if id(v) in inside else "") + v.name.split(":")[0]:
              tf.convert_to_tensor(value).numpy()
          for v, value in zip(learner.trainable_variables, values)}


def _turned(array):
  """The suite's kernels [..., C, F] as PyTorch's [F, C, ...]."""
  return array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T


def _as_torch_has_them(arrays):
  """Arrays by name in the order and layout of the other side's parameters."""
  scales, offsets = (arrays.get(f"embedding/norm_{part}") for part in ("scale", "offset"))
  made, done = [], 0
  for name in _embedding_order(arrays):
    array = arrays[f"embedding/{name}"]
    made.append(array if name.endswith("bias") else _turned(array))
    if "gate" not in name:  # A convolution is followed by its norm's scale and offset.
      norm = slice(done, done + array.shape[-1])
      made, done = [*made, scales[norm], offsets[norm]], norm.stop
  adapted = sorted(n for n in arrays if n.endswith(("kernel", "bias")) and "embedding" not in n)
  made += [_turned(arrays[n]) if n.endswith("kernel") else arrays[n] for n in adapted]
  made += [_turned(arrays[n]) for n in sorted(arrays) if n.startswith("critic/")]
  for rest in (("inner_rates", "norm_scale", "norm_offset"),
               ("critic_rates", "critic_norm_scale", "critic_norm_offset")):
    here = [arrays[n] for n in rest if n in arrays]
    # The rates and norms of the inner loop come before the critic, its own after it.
    made = made + here if "critic" in rest[0] else _before_critic(made, here, arrays)
  return made


def _before_critic(made, here, arrays):
  count = len(made) - sum(n.startswith("critic/") for n in arrays)
  return [*made[:count], *here, *made[count:]]


def _embedding_order(arrays):
  """Weights of an embedding from the first layer to the last."""
  names = [n[len("embedding/"):] for n in arrays if n.startswith("embedding/")]
  names = [n for n in names if not n.startswith("norm_")]
  if "stem/kernel" not in names:
    return sorted(names)
  parts = ("gate/kernel", "gate/bias", "narrow", "wide")
  return ["stem/kernel", *(f"block{i}/{part}" for i in (1, 2) for part in parts), "transition1",
          *(f"block{i}/{part}" for i in (3, 4) for part in parts), "transition2"]


@pytest.mark.parametrize("name, num_sets", [
    ("maml", 1), ("maml", 2), ("proto", 1), ("high", 1), ("sca", 1)])
def test_loss_and_meta_gradient_are_the_same(suite_side, cases, torch_python, tmp_path, name,
                                             num_sets):
  case = _tiny(cases, f"{name}_train", num_sets=num_sets)
  learner, rng = suite_side.begun(case, suite_side.context()), np.random.default_rng(0)
  for variable in learner.trainable_variables:  # Off 0 and 1, so that everything matters.
    if "rates" in variable.name:
      variable.assign(tf.fill(variable.shape, 0.1))
    elif "norm" in variable.name:
      variable.assign_add(0.1 * rng.normal(size=variable.shape).astype(np.float32))
  episode = suite_side.source(case).episode(0)

  @tf.function(autograph=False)
  def compiled():
    with tf.GradientTape() as tape:
      loss, _ = learner.meta_loss(type(episode)(*map(tf.constant, episode)))
    return loss, tape.gradient(loss, learner.trainable_variables, unconnected_gradients="zero")

  loss, gradients = compiled()
  theirs = _by_torch(torch_python, tmp_path, name, num_sets, episode, _as_torch_has_them(
      _by_name(learner, learner.trainable_variables)))
  assert loss.numpy() == pytest.approx(float(theirs["loss"]), rel=1e-4)
  assert _difference(_as_torch_has_them(_by_name(learner, gradients)), theirs) < 1e-3


def _by_torch(python, folder, name, num_sets, episode, parameters):
  """What the other side makes of the same parameters and episode."""
  support, images = (np.moveaxis(part, -1, -3).astype(np.float32) / 255.0
                     for part in (episode.support_images, episode.target_images))
  given = [support, episode.support_labels, images, episode.target_labels]
  np.savez(folder / "given.npz", **{f"{i}": part for i, part in enumerate(given)},
           **{f"parameter{i}": part for i, part in enumerate(parameters)})
  subprocess.run([python, "-c", _CHECK, str(folder / "given.npz"), name, str(folder / "made.npz"),
                  str(num_sets)], check=True,
                 env={**os.environ, "PYTHONPATH": str(TOOLS), "OMP_NUM_THREADS": "1"})
  return np.load(folder / "made.npz", allow_pickle=False)


def _difference(ours, theirs):
  """Of all gradients together, relative to their norm."""
  wanted = [theirs[f"{i}"] for i in range(len(ours))]
  total = sum(np.sum(np.square(part)) for part in wanted)
  return np.sqrt(sum(np.sum(np.square(a - b.reshape(a.shape)))
                     for a, b in zip(ours, wanted)) / total)
