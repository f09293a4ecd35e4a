# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tf.distribute` strategies by name; the only module that queries devices.

The unit of training is the *global* batch: R replicas take B / R examples each, in the order in
which one device would have taken them, so one seed gives the same images on any number of
devices.

Each replica keeps its own running statistics, such as batch norm's; `average` sets them to their
mean over the replicas before they are used. Reading them is local: TensorFlow would reduce over all
processes, and wait forever for one that does not read. What steers a run of several processes is
decided once: `agreed` gives all of them the value of the chief.

Parameter servers are not supported: their updates are asynchronous, so a run could not be
repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import json
import os
import socket
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

NAMES = ("one_device", "mirrored", "multi_worker", "slurm", "tpu")
_LOST = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError,
         tf.errors.DeadlineExceededError)
_HEADER, _BLOCK = 8, 1 << 14  # Bytes that processes exchange at once: a length, a part of a text.
_SLURM = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID",  # Numbers.
          "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE", "SLURMD_NODENAME")
# First and number of the ports of jobs, which may share a node; below those of clients.
_SLURM_PORTS, _TASKS_A_NODE = (12000, 20480), 16
_LEAST_MEMORY = 4 << 30  # Bytes.
_ON_READ = tf.VariableSynchronization.ON_READ
_CLUSTER = ('{"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
            '"task": {"type": "worker", "index": 0}}')


class LostProcessError(RuntimeError):
  """Another process of the run has ended, or cannot be reached any more."""


class Distribution:
  """Wrapper of a `tf.distribute.Strategy` with the operations that the suite needs.

  Attributes:
    memory_bytes: of its GPU, if a caller knows them; TensorFlow does not tell them.
  """

  def __init__(self, strategy: tf.distribute.Strategy, name: str):
    self.strategy, self.name = strategy, name
    self.memory_bytes: int | None = None
    self._total = tf.function(self.sum, autograph=False)

  @contextlib.contextmanager
  def scope(self) -> Iterator[None]:
    """Scope in which variables are created on every replica."""
    with self.strategy.scope(), tf.variable_creator_scope(_read_locally):
      yield

  @property
  def num_replicas(self) -> int:
    return self.strategy.num_replicas_in_sync

  @property
  def num_local_replicas(self) -> int:
    """Number of replicas in this process."""
    return len(self.strategy.extended.worker_devices)

  @property
  def devices(self) -> tuple[str, ...]:
    """The devices of this process, one for each of its replicas."""
    return tuple(self.strategy.extended.worker_devices)

  def holds(self, num_bytes: int, share: float) -> bool:
    """Whether data of a size should live on the device: one GPU, and a share of its memory.

    A GPU whose memory is not known is taken for one of 4 GiB.
    """
    memory = self.memory_bytes or _LEAST_MEMORY
    return self.is_single and "GPU" in self.devices[0] and num_bytes <= share * memory

  @property
  def is_single(self) -> bool:
    """True if one device does all the work, so a step is one plain graph."""
    return self.num_replicas == 1 and self.name == "one_device"

  @property
  def num_processes(self) -> int:
    """Number of processes that run the same command."""
    return 1 if self.name != "multi_worker" else self.num_replicas // self.num_local_replicas

  @property
  def is_chief(self) -> bool:
    """True for the process that writes records and state."""
    resolver = self.strategy.cluster_resolver
    if self.name != "multi_worker" or resolver is None:
      return True
    return resolver.task_type in (None, "chief") or (
        resolver.task_type == "worker" and resolver.task_id == 0
        and "chief" not in resolver.cluster_spec().as_dict())

  def describe(self) -> str:
    """Text for the log: "one_device: CPU (4 cores) x 1", "mirrored: NVIDIA H100 x 8"."""
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
      kind = tf.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU")
    else:
      kind = f"CPU ({os.cpu_count()} cores)"
    return f"{self.name}: {kind} x {self.num_replicas}"

  def peak_bytes(self) -> int | None:
    """Peak memory of a GPU of this process in bytes; None on CPU, which does not report it."""
    gpus = tf.config.list_logical_devices("GPU")
    if not gpus:
      return None
    names = [gpu.name.split("device:")[-1] for gpu in gpus]
    return max(tf.config.experimental.get_memory_info(name)["peak"] for name in names)

  def check_batch(self, batch_size: int) -> None:
    if batch_size % self.num_replicas:
      raise ValueError(
          f"Batch size {batch_size} cannot be split over {self.num_replicas} replicas of strategy "
          f"{self.name!r}; use a multiple of {self.num_replicas}.")

  def dataset(self, make: Callable[..., tf.data.Dataset]) -> Any:
    """Builds a distributed data set of training batches.

    Args:
      make: called as make(shard_index=i, num_shards=R, shards_here=L); returns the slices of this
        process, step by step and replica by replica (see `ImageSet.train_batches`).
    """
    def from_context(context: tf.distribute.InputContext) -> tf.data.Dataset:
      here = context.num_replicas_in_sync // context.num_input_pipelines
      return make(shard_index=context.input_pipeline_id * here,
                  num_shards=context.num_replicas_in_sync, shards_here=here)

    if self.is_single and "CPU" in self.devices[0]:  # Nothing to copy, so its iterator is cheaper.
      return from_context(tf.distribute.InputContext())
    return self.strategy.distribute_datasets_from_function(from_context)

  def run(self, fn: Callable[..., Any], args=()) -> Any:
    return self.strategy.run(fn, args=args)

  def mean(self, per_replica: Any) -> tf.Tensor:
    return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, per_replica, axis=None)

  def sum(self, per_replica: Any) -> tf.Tensor:
    return self.strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

  def average(self, variables: Sequence[tf.Variable]) -> None:
    """Sets those variables that differ between replicas to their mean over all replicas."""
    own = [] if self.is_single else [v for v in variables if v.synchronization == _ON_READ]
    if own:
      values = self.run(lambda: [tf.identity(v) for v in own])
      for variable, value in zip(own, values):
        variable.assign(self.mean(value))

  @contextlib.contextmanager
  def lost_processes(self) -> Iterator[None]:
    """Turns TensorFlow's error about another process into a `LostProcessError`."""
    try:
      yield
    except _LOST as error:
      if self.num_processes == 1:
        raise
      raise LostProcessError(
          f"another of the {self.num_processes} processes of this run has ended or cannot be "
          "reached any more (its last line says why), so this one ends, too; start all of them "
          "again with the same commands to resume from the last saved state") from error

  def agreed(self, value: Any) -> Any:
    """Returns the chief's value in every process; all of them must call it at the same point.

    Args:
      value: plain JSON.
    """
    if self.num_processes == 1:
      return value
    text = json.dumps(value).encode() if self.is_chief else b""
    header = self._from_chief(len(text).to_bytes(_HEADER, "big"), _HEADER)
    size = int.from_bytes(header, "big")
    blocks = [self._from_chief(text[i:i + _BLOCK], _BLOCK) for i in range(0, size, _BLOCK)]
    return json.loads(b"".join(blocks)[:size])

  def _from_chief(self, text: bytes, size: int) -> bytes:
    """Returns the chief's text in every process, with zeros after it; one graph for each size."""
    row = np.zeros([size], np.float32)  # The type of most kernels; it holds 0..255 exactly.
    row[:len(text)] = np.frombuffer(text, np.uint8)
    rows = self.strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(row if context.replica_id_in_sync_group == 0 else 0 * row))
    return self._total(rows).numpy().astype(np.uint8).tobytes()


def _read_locally(make: Callable[..., tf.Variable], **arguments: Any) -> tf.Variable:
  """Makes a variable of which every replica has its own value; outside replicas, the first's."""
  if (arguments.get("synchronization") == _ON_READ
      and arguments.get("aggregation") == tf.VariableAggregation.MEAN):
    arguments["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
  return make(**arguments)


def build(name: str = "one_device", num_devices: int | None = None) -> Distribution:
  """Builds a strategy by name.

  Args:
    name: one of `NAMES`. "multi_worker" reads the cluster from TF_CONFIG, "tpu" from TPU_NAME.
      "slurm" is "multi_worker" with the processes that one `srun` has started.
    num_devices: number of local devices, for "mirrored" only. On a machine without GPUs,
      `num_devices` logical CPU devices are created, which must happen before TensorFlow runs its
      first op. Default: all GPUs, or one CPU.

  Raises:
    ValueError: the name is unknown, the machine has fewer devices, or the environment variable
      that describes the cluster is not set.
  """
  makers = {
      "one_device": _one_device,
      "mirrored": lambda: _mirrored(num_devices),
      "multi_worker": _multi_worker,
      "slurm": _slurm,
      "tpu": _tpu,
  }
  if name not in makers:
    raise ValueError(f"Unknown strategy {name!r}; allowed are {', '.join(NAMES)}.")
  if num_devices is not None and name != "mirrored":
    raise ValueError(
        f"{num_devices} devices were asked for with strategy {name!r}; only 'mirrored' takes a "
        "number of them: add --strategy mirrored, or leave --devices out.")
  return Distribution(makers[name](), "multi_worker" if name == "slurm" else name)


def _one_device() -> tf.distribute.Strategy:
  kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
  return tf.distribute.OneDeviceStrategy(f"/{kind}:0")


def logical_cpus(count: int) -> None:
  """Splits the CPU into `count` logical devices; possible only before TensorFlow's first op."""
  cpu = tf.config.list_physical_devices("CPU")[0]
  current = tf.config.get_logical_device_configuration(cpu)
  if (1 if current is None else len(current)) >= count:
    return
  try:
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * count)
  except RuntimeError as error:
    raise RuntimeError(
        f"Cannot split the CPU into {count} logical devices because TensorFlow has already run; "
        "ask for the strategy before any other TensorFlow call (the command line does).") from error


def _mirrored(num_devices: int | None) -> tf.distribute.Strategy:
  kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
  if kind == "CPU":
    logical_cpus(num_devices or 1)
  available = len(tf.config.list_logical_devices(kind))
  count = num_devices or available
  if count > available:
    raise ValueError(
        f"Strategy 'mirrored' was asked for {count} devices; this machine has {available} {kind}.")
  if kind == "CPU" and count > 1:
    logging.info("TensorFlow sees no GPU: strategy 'mirrored' runs on %d logical devices of the "
                 "CPU, which is no faster than one", count)
  return tf.distribute.MirroredStrategy([f"/{kind}:{i}" for i in range(count)])


def _need_environment(variable: str, strategy: str, example: str) -> None:
  if not os.environ.get(variable):
    raise ValueError(
        f"Strategy {strategy!r} reads the cluster from the environment variable {variable}, which "
        f"is not set. Set it in every process, for example {variable}='{example}'.")


def _unreachable(addresses: Sequence[str]) -> str:
  """Says which address no process can have, since TensorFlow would wait for it; "" if all can."""
  for address in addresses:
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdigit():
      return f"{address!r} is no HOST:PORT"
    try:
      socket.getaddrinfo(host.strip("[]"), int(port))
    except OSError as error:
      return f"the host of {address!r} is not known here ({error.strerror})"
  twice = sorted({a for a in addresses if list(addresses).count(a) > 1})
  return f"{twice[0]} is there twice" if twice else ""


def _multi_worker() -> tf.distribute.Strategy:
  _need_environment("TF_CONFIG", "multi_worker", _CLUSTER)
  # Refuses a description of the cluster that has no place for this process.
  text = os.environ["TF_CONFIG"]
  problem = ""
  try:
    described = json.loads(text)
    cluster, task = described["cluster"], described["task"]
    hosts = {job: list(cluster[job]) for job in ("chief", "worker") if job in cluster}
    kind, index = task["type"], int(task["index"])
    if kind not in hosts or not 0 <= index < len(hosts[kind]):
      problem = f"its cluster has no {kind} {index}"
    problem = problem or _unreachable(sum(hosts.values(), []))
  except KeyError as error:
    problem = f"it has no {error}"
  except (ValueError, TypeError) as error:
    problem = f"it cannot be read ({type(error).__name__}: {error})"
  if problem:
    raise ValueError(f"TF_CONFIG is {text!r}; {problem}. Set it in every process, for example "
                     f"TF_CONFIG='{_CLUSTER}'.")
  logging.info("This is %s %d; waiting until the processes of %s have started.", kind, index,
               ", ".join(sum(hosts.values(), [])))
  # RING is fastest on CPU; AUTO chooses NCCL for GPUs.
  gpus = tf.config.list_physical_devices("GPU")
  implementation = (tf.distribute.experimental.CommunicationImplementation.AUTO if gpus
                    else tf.distribute.experimental.CommunicationImplementation.RING)
  options = tf.distribute.experimental.CommunicationOptions(implementation=implementation)
  return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def _slurm() -> tf.distribute.Strategy:
  os.environ["TF_CONFIG"] = json.dumps(slurm_config())
  return _multi_worker()


def slurm_config() -> dict[str, Any]:
  """The content of TF_CONFIG for this task of a SLURM job step.

  TensorFlow's resolver takes the addresses from SLURM's list of nodes, in the order of their names
  as texts: n10 before n9. Tasks are numbered in another order, so this one's address is found by
  its node. GPUs are SLURM's to assign: this process takes all that it sees.
  """
  missing = [name for name in _SLURM if not os.environ.get(name)]
  if missing:
    raise ValueError(f"Strategy 'slurm' reads {', '.join(missing)}, which srun sets. Start the "
                     "run with: srun suite run RUN --strategy slurm --workdir DIR")
  number = {name: int(os.environ[name]) for name in _SLURM[:4]}
  first = _SLURM_PORTS[0] + number["SLURM_JOB_ID"] * _TASKS_A_NODE % _SLURM_PORTS[1]
  resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
      port_base=first, gpus_per_node=number["SLURM_STEP_NUM_TASKS"], gpus_per_task=1,
      auto_set_gpu=False)
  cluster = resolver.cluster_spec().as_dict()
  own = f"{os.environ['SLURMD_NODENAME']}:{first + number['SLURM_LOCALID']}"
  if own not in cluster["worker"]:
    raise ValueError(f"Task {number['SLURM_PROCID']} is {own}, but the job step has "
                     f"{', '.join(cluster['worker'])}; start all its tasks with one srun.")
  return {"cluster": cluster, "task": {"type": "worker", "index": cluster["worker"].index(own)}}


def _tpu() -> tf.distribute.Strategy:
  _need_environment("TPU_NAME", "tpu", "local")
  name = os.environ["TPU_NAME"]
  try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
  except Exception as error:  # TensorFlow and its clients raise errors of many kinds.
    reason = (str(error).splitlines() or [""])[0]
    raise ValueError(
        f"The TPU {name!r} of TPU_NAME cannot be reached ({type(error).__name__}: {reason}). Set "
        "TPU_NAME to a TPU of this machine's project, 'local' on a TPU VM, or choose another "
        "--strategy.") from error
  return tf.distribute.TPUStrategy(resolver)
