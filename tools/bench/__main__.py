# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Benchmarks against an alternative in the same run: medians of alternating rounds, and ratios.

  python tools/bench train       ResNet-18, 64x64, batch 64: suite's loop against a bare compiled
                                    Keras loop, then the input pipeline alone against suite's loop
  python tools/bench pipeline    training crops from arrays, by size of the stored images; with
                                    --other FOLDER beside another revision in the same run
  python tools/bench data        training batches of a prepared 64x64 data set of PNG records:
                                    plain tfds.load against the suite's image set
  python tools/bench decode      training crops of NEVIS from JPEGs of 256 x 256 and 500 x 400,
                                    beside decoding alone, a packed copy, an array, validation; and
                                    with --other FOLDER
  python tools/bench ahead       offline phases on images on disk: read ahead against in turn
  python tools/bench lifelong    Sort & Search on up to 10,000,000 samples (--large: a tenfold):
                                    the paper's algorithm in plain numpy against the suite's
  python tools/bench answers     a cache of --samples x --models answers: add, fill, estimate, rank;
                                    --other FOLDER: another revision, in turns; --ids: forms of ids
  python tools/bench clear       CLEAR's learners on features, 10 x 3,300 x 2,048: Keras fit
                                    against each of them, and the evaluation; with --threads 1
  python tools/bench cfsl        MAML++, ProtoNets and episodes of continual few-shot learning:
                                    plain PyTorch (extra `bench`) against the suite; --threads 2
  python tools/bench peers       ER, DER++, EWC, RanPAC and FeCAM: a bare TensorFlow loop of replay
                                    and, with --checkout DIR, public code in PyTorch; --threads 2
  python tools/bench convs       the convolutions of such a task alone
  python tools/bench fluid       FLUID's sequences of 64x64 images and heads, 1,000 classes: one
                                    sample at a time against the suite's blocks; with --threads 2
  python tools/bench statistics  closed forms on features, blocks of single samples: products of
                                    each form for each CPU second, beside SLDA's
  python tools/bench gpu         steps of NEVIS, CLEAR at 224, MAML and FLUID on a GPU; without one
                                    it is skipped, or with --on_cpu measured small on the CPU
  python tools/bench ops         ops of the graph of a meta-update of MAML++
  python tools/bench precision   ResNet-18, conv-4 and MAML++ high-end: float32 against bfloat16 and
                                    mixed_bfloat16
  python tools/bench settings    the same nets in float32, with --xla, and with --deterministic
  python tools/bench state       what saving an event costs (RunState.commit), and what a run of
                                    many events holds; --other FOLDER: another revision, in turns
  python tools/bench turns       --case train, clear, fluid, cfsl or lifelong, --other FOLDER: this
                                    checkout's and another's in turns, CPU time; with --threads 1
  python tools/bench onednn      suite's loop with and without oneDNN, in separate processes

`--threads N` pins TensorFlow's intra-op threads; `--steps` and `--rounds` set the duration.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from typing import Any

# As the command line does (suite/cli.py); TensorFlow reads both when it is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.models import resnet
from suite.training.gradient import network as network_lib

BATCH, SIZE, CLASSES = 64, 64, 10
RATE, MOMENTUM, DECAY, SMOOTHING = 0.01, 0.9, 1e-4, 0.1

Run = Callable[[int], None]  # run(num_steps) takes `num_steps` steps.
Rates = dict[str, list[float]]  # Images per second of each round, by candidate.


def images(size: int = SIZE, num: int = 2000) -> image_set.ImageSet:
  """Images of noise; image content does not affect the time."""
  rng = np.random.default_rng(0)
  return image_set.ImageSet.from_arrays("bench",
                                        rng.integers(0, 256, (num, size, size, 3), dtype=np.uint8),
                                        rng.integers(0, CLASSES, num),
                                        kind=tasks.SINGLE_LABEL,
                                        num_classes=CLASSES)


def batches(distribution: distribution_lib.Distribution, size: int = SIZE) -> Any:
  """Endless augmented batches, equal for every candidate."""
  data = images(size)
  return iter(distribution.dataset(lambda **shard: data.train_batches(
      BATCH, seed=(0, 0), transform=image_ops.Nevis(SIZE), **shard)))


def bare_loop() -> Run:
  """A typical Keras training loop: one compiled step, called from Python.

  Net, batch-norm updates, Nesterov's momentum, decay of the kernels only, label smoothing and data
  equal the suite's. It has no schedule, variable hyper-parameters, masks or loop inside the graph.
  """
  model = tf.keras.Sequential([
      resnet.resnet18(image_shape=(SIZE, SIZE, 3)), tf.keras.layers.Dense(CLASSES)])
  optimizer = tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM, nesterov=True, jit_compile=False)
  kernels = [v for v in model.trainable_variables if v.name.endswith("kernel:0")]
  loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING)
  iterator = batches(distribution_lib.build("one_device"))

  @tf.function
  def step(batch):
    with tf.GradientTape() as tape:
      loss = loss_fn(tf.one_hot(batch["label"], CLASSES), model(batch["image"], training=True))
      loss += DECAY * tf.add_n([tf.nn.l2_loss(kernel) for kernel in kernels])
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

  def run(num_steps: int) -> None:
    for _ in range(num_steps):
      loss = step(next(iterator))
    loss.numpy()

  return run


def suite_loop() -> Run:
  distribution = distribution_lib.build("one_device")
  network = network_lib.Network(resnet.resnet18,
                                image_size=SIZE,
                                kind=tasks.SINGLE_LABEL,
                                num_classes=CLASSES,
                                momentum=MOMENTUM,
                                weight_decay=DECAY,
                                distribution=distribution)
  network.loop.configure(peak_rate=RATE,
                         warmup_steps=10,
                         total_steps=100_000,
                         label_smoothing=SMOOTHING)
  iterator = batches(distribution)
  return lambda num_steps: network.loop.run(iterator, num_steps)


def pipeline(size: int) -> Run:
  iterator = batches(distribution_lib.build("one_device"), size)

  def run(num_steps: int) -> None:
    for _ in range(num_steps):
      next(iterator)

  return run


def rounds(candidates: dict[str, Run], num_steps: int, num_rounds: int) -> Rates:
  """Measures images per second of each candidate in rounds of alternating order.

  The first call of each is a warm-up, which traces the graph and fills the prefetch buffers.
  """
  rates: Rates = {name: [] for name in candidates}
  for run in candidates.values():
    run(3)
  for number in range(num_rounds):
    for name in list(candidates)[::1 if number % 2 == 0 else -1]:
      start = time.perf_counter()
      candidates[name](num_steps)
      rates[name].append(num_steps * BATCH / (time.perf_counter() - start))
  return rates


def show(rates: Rates, base: str) -> None:
  """Prints each candidate's median and the median ratio of its rounds to those of `base`."""
  for name, values in rates.items():
    ratio = statistics.median(values) / statistics.median(rates[base])
    if len(values) == len(rates[base]):
      ratio = statistics.median(a / b for a, b in zip(values, rates[base]))
    print(f"{name:28s} median {statistics.median(values):9.1f} images/s   "
          f"range {min(values):.1f}..{max(values):.1f}   {ratio:.3f} x {base}")


def train(args: argparse.Namespace) -> None:
  rates = rounds({"bare Keras loop": bare_loop(), "suite": suite_loop()}, args.steps, args.rounds)
  show(rates, "bare Keras loop")
  pipes = rounds({f"pipeline, {SIZE}x{SIZE} cached": pipeline(SIZE)}, args.steps * 8, args.rounds)
  show({"suite": rates["suite"], **pipes}, "suite")


def inputs(args: argparse.Namespace) -> None:
  import bench_decode  # pylint: disable=import-outside-toplevel
  bench_decode.run(args.what, args.rounds, args.other)


def data(args: argparse.Namespace) -> None:
  import bench_data  # pylint: disable=import-outside-toplevel
  show(rounds(bench_data.candidates(), args.steps * 20, args.rounds), "tfds.load")


def ahead(args: argparse.Namespace) -> None:
  import bench_ahead  # pylint: disable=import-outside-toplevel
  bench_ahead.run(args.rounds)


def lifelong(args: argparse.Namespace) -> None:
  import bench_lifelong  # pylint: disable=import-outside-toplevel
  bench_lifelong.run(args.rounds, args.large)


def answers(args: argparse.Namespace) -> None:
  import bench_answers  # pylint: disable=import-outside-toplevel
  bench_answers.run(args)


def clear(args: argparse.Namespace) -> None:
  import bench_clear  # pylint: disable=import-outside-toplevel
  bench_clear.run(args.rounds, args.steps)


def cfsl(args: argparse.Namespace) -> None:
  import bench_cfsl  # pylint: disable=import-outside-toplevel
  usable = len(os.sched_getaffinity(0))
  bench_cfsl.run(args, f"{cpu_model()}, {os.cpu_count()} cores ({usable} usable), "
                 f"{args.threads or usable} threads a side")


def peers(args: argparse.Namespace) -> None:
  import bench_peers  # pylint: disable=import-outside-toplevel
  bench_peers.run(args)


def convs(args: argparse.Namespace) -> None:
  import bench_convs  # pylint: disable=import-outside-toplevel
  bench_convs.run(args, f"{describe(1)}, {args.threads or 'all'} operations at once")


def fluid(args: argparse.Namespace) -> None:
  import bench_fluid  # pylint: disable=import-outside-toplevel
  bench_fluid.run(args.rounds, args.steps)


def closed_forms(args: argparse.Namespace) -> None:
  import bench_statistics  # pylint: disable=import-outside-toplevel
  bench_statistics.run(args.rounds)


def state(args: argparse.Namespace) -> None:
  import bench_state  # pylint: disable=import-outside-toplevel
  bench_state.run(args.rounds, args.steps, args.other,
                  args.cases.split(",") if args.cases else [])


def turns(args: argparse.Namespace) -> None:
  import bench_turns  # pylint: disable=import-outside-toplevel
  bench_turns.run(args)


def gpu(args: argparse.Namespace) -> None:
  import bench_gpu  # pylint: disable=import-outside-toplevel
  bench_gpu.run(args)


def ops(args: argparse.Namespace) -> None:
  del args
  import bench_ops  # pylint: disable=import-outside-toplevel
  bench_ops.run()


def precision(args: argparse.Namespace) -> None:
  import bench_precision  # pylint: disable=import-outside-toplevel
  bench_precision.run(args.rounds, args.nets or list(bench_precision.NETS))


def settings(args: argparse.Namespace) -> None:
  import bench_precision  # pylint: disable=import-outside-toplevel
  bench_precision.run_settings(args.rounds, args.nets or list(bench_precision.NETS), __file__)


def setting_json(args: argparse.Namespace) -> None:
  import bench_precision  # pylint: disable=import-outside-toplevel
  print(bench_precision.as_json(args.rounds, args.nets[0], args.setting))


def onednn(args: argparse.Namespace) -> None:
  """Compares two processes, since TensorFlow reads the switch once, in alternating rounds."""
  rates: Rates = {"oneDNN off": [], "oneDNN on": []}
  for _ in range(2):
    for value, name in enumerate(rates):
      environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": str(value)}
      command = [sys.executable, __file__, "suite_json", "--steps", str(args.steps),
                 "--rounds", str(max(1, args.rounds // 2)), "--threads", str(args.threads or 0)]
      done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
      rates[name] += json.loads(done.stdout.splitlines()[-1])
  show(rates, "oneDNN off")


def suite_json(args: argparse.Namespace) -> None:
  print(json.dumps(rounds({"suite": suite_loop()}, args.steps, args.rounds)["suite"]))


def cpu_model() -> str:
  """Name of the CPU, which Python reports on few systems only."""
  try:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
      names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
  except OSError:
    names = []
  return names[0] if names else platform.processor() or platform.machine()


def describe(threads: int | None) -> str:
  gpus = tf.config.list_physical_devices("GPU")
  device = f"{len(gpus)} GPU, " if gpus else ""
  return (f"{device}{cpu_model()}, {os.cpu_count()} cores ({len(os.sched_getaffinity(0))} usable), "
          f"{threads or 'all'} intra-op threads, oneDNN {os.environ['TF_ENABLE_ONEDNN_OPTS']}, "
          f"TensorFlow {tf.__version__}")


def main() -> int:
  what = {"train": train, "pipeline": inputs, "data": data, "decode": inputs, "ahead": ahead,
          "lifelong": lifelong, "answers": answers, "clear": clear, "cfsl": cfsl, "peers": peers,
          "convs": convs,
          "fluid": fluid, "statistics": closed_forms, "state": state, "gpu": gpu, "turns": turns,
          "onednn": onednn, "ops": ops, "precision": precision, "settings": settings,
          "setting_json": setting_json, "suite_json": suite_json}
  shown = [name for name in what if not name.endswith("_json")]
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("what", choices=what, metavar=f"{{{','.join(shown)}}}")
  parser.add_argument("--steps",
                      type=int,
                      default=8,
                      help="steps of a round (8 times as many for a pipeline, 20 for data); "
                      "clear: epochs; fluid: thousands of images in a stream; state: events")
  parser.add_argument("--rounds", type=int, default=7)
  parser.add_argument("--threads", type=int, help="intra-op threads (all); cfsl: of each side")
  parser.add_argument("--other", metavar="FOLDER",
                      help="state, pipeline, decode, turns, answers: a checkout of another "
                      "revision")
  parser.add_argument("--case", metavar="NAME", help="turns: the case")
  parser.add_argument("--on_cpu", action="store_true", help="gpu: small, if there is none")
  parser.add_argument("--precisions", nargs="+", default=["float32"], metavar="NAME",
                      help="gpu: of the nets, one after the other (float32)")
  parser.add_argument("--large", action="store_true", help="lifelong: 100,000,000 samples, too")
  parser.add_argument("--nets", nargs="+", metavar="NET", help="precision, settings: some (all)")
  parser.add_argument("--setting", help=argparse.SUPPRESS)
  few_shot = parser.add_argument_group("cfsl")
  few_shot.add_argument("--cases", metavar="A,B,C", help="names from cfsl_cases.py (all); "
                        "gpu: parts of the steps' names; state: names")
  few_shot.add_argument("--seconds", type=float, default=2.0, help="of a round, about")
  few_shot.add_argument("--intra", type=int, help="suite: threads within an operation (1)")
  few_shot.add_argument("--inter", type=int, help="suite: operations at once (--threads)")
  few_shot.add_argument("--torch_python", metavar="PATH", default=sys.executable)
  few_shot.add_argument("--checkout", metavar="DIR", help="peers: a folder of clones OWNER+NAME")
  few_shot.add_argument("--without_torch", action="store_true")
  import bench_answers  # pylint: disable=import-outside-toplevel
  bench_answers.add_flags(parser.add_argument_group("answers"))
  args = parser.parse_args()
  if args.threads and args.what not in ("convs", "gpu"):
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
  if args.what in ("ahead", "answers", "decode", "pipeline", "lifelong", "clear", "fluid",
                   "precision", "settings", "statistics", "turns", "peers"):
    print(describe(args.threads))
  elif args.what not in ("suite_json", "setting_json", "cfsl", "convs", "gpu"):
    print(f"{describe(args.threads)}\n{args.rounds} rounds of {args.steps} steps of {BATCH} images")
  what[args.what](args)
  return 0


if __name__ == "__main__":
  sys.exit(main())
