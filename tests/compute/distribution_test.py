# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Strategies by name, and what they refuse; tests/distribution_test.py runs them."""

from __future__ import annotations

import re
import socket
import types

import pytest
import tensorflow as tf

from suite.compute import distribution


def test_an_unknown_strategy_lists_the_known_ones():
  with pytest.raises(ValueError, match="strategy 'mirored'; allowed are one_device, mirrored, "
                                       "multi_worker, slurm, tpu"):
    distribution.build("mirored")


def test_every_name_is_a_strategy():
  assert distribution.NAMES == ("one_device", "mirrored", "multi_worker", "slurm", "tpu")


@pytest.mark.parametrize("name, variable", [("multi_worker", "TF_CONFIG"), ("tpu", "TPU_NAME")])
def test_a_cluster_that_is_not_described_is_asked_for(monkeypatch, name, variable):
  monkeypatch.setenv(variable, "")
  with pytest.raises(ValueError, match=f"{variable}, which is not set. Set it in every process"):
    distribution.build(name)


@pytest.mark.parametrize("text, problem", [
    ("[1, 2]", r"it cannot be read \(TypeError"),
    ("worker", r"it cannot be read \(JSONDecodeError"),
    ('{"cluster": {"worker": ["a:1"]}}', "it has no 'task'"),
    ('{"cluster": {"worker": ["127.0.0.1"]}, "task": {"type": "worker", "index": 0}}',
     "'127.0.0.1' is no HOST:PORT"),
    ('{"cluster": {"worker": ["127.0.0.1:x"]}, "task": {"type": "worker", "index": 0}}',
     "'127.0.0.1:x' is no HOST:PORT"),
    ('{"cluster": {"worker": ["127.0.0.1:1", "127.0.0.1:1"]}, '
     '"task": {"type": "worker", "index": 0}}', "127.0.0.1:1 is there twice"),
    ('{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}',
     "its cluster has no worker 1"),
    ('{"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}}', "has no ps 0"),
])
def test_a_cluster_without_a_place_for_the_process_is_refused(monkeypatch, text, problem):
  monkeypatch.setenv("TF_CONFIG", text)
  with pytest.raises(ValueError, match=f"TF_CONFIG is .*{problem}.* Set it in every process, for"):
    distribution.build("multi_worker")


def _in_slurm(monkeypatch, **values):
  step = {"PROCID": 1, "LOCALID": 0, "STEP_NUM_TASKS": 3, "JOB_ID": 7, "STEP_NODELIST": "n[9-10]",
          "STEP_TASKS_PER_NODE": "1,2"}
  for name, value in {**step, **values}.items():
    monkeypatch.setenv(f"SLURM_{name}", str(value))
  monkeypatch.setenv("SLURMD_NODENAME", "n10")


def test_a_slurm_task_is_found_by_its_node(monkeypatch):
  # The resolver sorts n10 before n9, so that its own numbers are not those of SLURM.
  addresses = ["n10:12112", "n10:12113", "n9:12112"]
  _in_slurm(monkeypatch)
  assert distribution.slurm_config() == {
      "cluster": {"worker": addresses}, "task": {"type": "worker", "index": 0}}
  _in_slurm(monkeypatch, PROCID=2, LOCALID=1)
  assert distribution.slurm_config()["task"]["index"] == 1
  monkeypatch.setenv("SLURM_LOCALID", "0")
  monkeypatch.setenv("SLURMD_NODENAME", "n9")
  assert distribution.slurm_config()["task"]["index"] == 2


def test_jobs_on_one_node_have_other_ports(monkeypatch):
  first = set()
  for job in (1280, 1281, 2559, 99):
    _in_slurm(monkeypatch, JOB_ID=job)
    first.add(distribution.slurm_config()["cluster"]["worker"][0])
  assert first == {"n10:12000", "n10:12016", "n10:32464", "n10:13584"}


def test_a_process_that_srun_did_not_start_is_refused(monkeypatch):
  _in_slurm(monkeypatch, LOCALID=2)
  with pytest.raises(ValueError, match="Task 1 is n10:12114, but the job step has n10:12112, "):
    distribution.build("slurm")
  monkeypatch.delenv("SLURM_PROCID")
  with pytest.raises(ValueError, match="reads SLURM_PROCID, which srun sets. Start the run with"):
    distribution.build("slurm")


def test_a_host_that_is_not_known_is_refused_instead_of_waited_for(monkeypatch):
  def unknown(*unused):
    raise socket.gaierror(-2, "Name or service not known")

  monkeypatch.setattr(socket, "getaddrinfo", unknown)
  monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["no.host:1"]}, '
                     '"task": {"type": "worker", "index": 0}}')
  with pytest.raises(ValueError, match="the host of 'no.host:1' is not known here .Name or serv"):
    distribution.build("multi_worker")


def test_a_tpu_that_cannot_be_reached_is_named(monkeypatch):
  def unknown(**unused):
    raise RuntimeError("no such TPU\nstack")

  monkeypatch.setattr(tf.distribute.cluster_resolver, "TPUClusterResolver", unknown)
  monkeypatch.setenv("TPU_NAME", "nosuch")
  with pytest.raises(ValueError, match="The TPU 'nosuch' of TPU_NAME cannot be reached .RuntimeErr"
                     "or: no such TPU.. Set TPU_NAME"):
    distribution.build("tpu")


def test_only_mirrored_takes_a_number_of_devices():
  with pytest.raises(ValueError, match="2 devices were asked for with strategy .*; only .mirrored"):
    distribution.build("one_device", 2)


def test_devices_cannot_be_split_after_the_first_op():
  tf.zeros([]) + 1
  if tf.config.list_physical_devices("GPU"):
    pytest.skip("needs a machine without GPUs")
  with pytest.raises(RuntimeError, match="Cannot split the CPU into 64 logical devices because"):
    distribution.build("mirrored", 64)


def test_one_device_is_single_and_chief():
  one = distribution.build()
  assert (one.name, one.num_replicas, one.num_local_replicas) == ("one_device", 1, 1)
  assert one.is_single and one.is_chief
  assert re.fullmatch(r"one_device: (CPU \(\d+ cores\)|.+) x 1", one.describe())


def test_one_replica_of_another_strategy_is_not_single():
  mirrored = distribution.build("mirrored", 1)
  assert mirrored.num_replicas == 1 and not mirrored.is_single
  assert mirrored.describe().startswith("mirrored: ") and mirrored.describe().endswith(" x 1")


def _of(replicas, name="mirrored", **resolver):
  strategy = types.SimpleNamespace(
      num_replicas_in_sync=replicas,
      cluster_resolver=types.SimpleNamespace(**resolver) if resolver else None)
  return distribution.Distribution(strategy, name)


def test_a_batch_must_split_evenly():
  _of(4).check_batch(64)
  _of(1).check_batch(7)
  with pytest.raises(ValueError, match="Batch size 10 cannot be split over 4 replicas of strategy "
                                       "'mirrored'; use a multiple of 4"):
    _of(4).check_batch(10)


@pytest.mark.parametrize("task_type, task_id, jobs, expected", [
    ("worker", 0, ["worker"], True),
    ("worker", 1, ["worker"], False),
    ("worker", 0, ["chief", "worker"], False),
    ("chief", 0, ["chief", "worker"], True),
    ("evaluator", 0, ["worker", "evaluator"], False),
])
def test_one_process_of_a_cluster_writes(task_type, task_id, jobs, expected):
  cluster = types.SimpleNamespace(as_dict=lambda: {job: ["h:1"] for job in jobs})
  one = _of(2, "multi_worker", task_type=task_type, task_id=task_id, cluster_spec=lambda: cluster)
  assert one.is_chief == expected


def test_the_data_set_of_one_device_is_asked_for_whole_batches():
  asked = []

  def make(**shard):
    asked.append(shard)
    return tf.data.Dataset.range(3)

  assert [int(x) for x in distribution.build().dataset(make)] == [0, 1, 2]
  assert asked == [{"shard_index": 0, "num_shards": 1, "shards_here": 1}]


def test_sums_and_means_over_one_replica_are_the_value():
  one = distribution.build()
  assert float(one.sum(one.run(lambda x: x * 2.0, args=(tf.constant(3.0),)))) == 6.0
  assert float(one.mean(tf.constant(3.0))) == 3.0


def test_one_process_agrees_with_itself():
  value = {"any": object()}
  assert distribution.build().agreed(value) is value
  assert distribution.build("mirrored", 1).agreed(value) is value


def test_values_of_replicas_are_read_without_the_other_replicas():
  one = distribution.build("mirrored", 1)
  own = dict(initial_value=2.0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ)
  with one.scope():
    mean = tf.Variable(aggregation=tf.VariableAggregation.MEAN, **own)
    total = tf.Variable(aggregation=tf.VariableAggregation.SUM, **own)
    weight = tf.Variable(3.0)
  assert mean.aggregation == tf.VariableAggregation.ONLY_FIRST_REPLICA
  assert total.aggregation == tf.VariableAggregation.SUM
  assert weight.aggregation == tf.VariableAggregation.NONE
  one.run(lambda: mean.assign(5.0))
  one.average([mean, weight])
  assert (mean.numpy(), weight.numpy()) == (5.0, 3.0)


def test_an_error_of_one_process_is_none_of_another():
  one = distribution.build()
  with pytest.raises(tf.errors.UnavailableError, match="a disk"), one.lost_processes():
    raise tf.errors.UnavailableError(None, None, "a disk")
