# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The schema of records: each key with its type, unit and meaning, and the keys of each kind.

A record is a line of `records.jsonl`, one event. Writers, metrics, panels, boards and checks take
names of keys from here, so that a key has its text once. `KINDS` are the kinds of events, each a
`TypedDict`, from which docs/records.md is made (`python tools/make_records_page.py`). Records have
further keys: costs of phases (`flops_train`, ...), what a learner returns of its training, and the
metrics of a user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict

Record = Mapping[str, Any]
KEYS: dict[str, Key] = {}


class Key(NamedTuple):
  """The type, unit ("" of names, counts and flags) and meaning of a key."""

  type: Any
  unit: str
  meaning: str


def _key(name: str, type_: Any, unit: str, meaning: str) -> str:
  KEYS[name] = Key(type_, unit, meaning)
  return name


# All events.
EVENT = _key("event", int, "", "number of the event, from 0")
RUN = _key("run", str, "", "label of the learner")
PROTOCOL = _key("protocol", str, "", "name of the protocol")
KIND = _key("kind", str, "", "`train` or `predict`")
FLOPS = _key("flops", int, "FLOP", "floating-point operations of the run so far; null: unknown")
MACS = _key("macs", int, "MAC", "multiply-adds of products and convolutions of the run so far")
EXAMPLES = _key("examples", int, "", "examples that were computed on so far")
GRADIENT_STEPS = _key("steps", int, "", "gradient steps so far; null: unknown")
SECONDS = _key("seconds", float, "s", "time of computing so far")
PEAK_BYTES = _key("peak_bytes", int, "byte", "largest memory of the device; null: unknown")
SELECTED_ON = _key("selected_on", str, "", "data that the settings were selected on, by a search")
SECONDS_EVENT = _key("seconds_event", float, "s", "time since the event before")
RUN_DIGEST = _key("run_digest", str, "", "identity of the run, in the first record")
DIGEST = _key("digest", str, "", "SHA-256 of the digest before and of this line without it")
# What an event is about.
TASK = _key("task", str, "", "name of the task's data")
TASK_KEY = _key("task_key", str, "", "name of the task; `mnist@2` where the data comes again")
NUM_CLASSES = _key("num_classes", int, "", "classes of the task")
LEFT_OUT = _key("left_out", Any, "", "tasks, samples or test sets that are left out")
# Training.
TRAIN_SIZE = _key("train_size", int, "", "training examples that were delivered")
VALIDATION_SIZE = _key("validation_size", int, "", "of them, those of the validation split")
UNLABELLED_SIZE = _key("unlabelled_size", int, "", "unlabelled examples that were delivered")
TRAIN_LOSS = _key("train_loss", float, "", "mean loss of the training")
# Tests.
SEEN = _key("seen", int, "", "examples that were answered")
CORRECT = _key("correct", int, "", "right answers")
ERROR = _key("error", float, "share", "wrong answers, or 1 - mean average precision")
METRIC = _key("metric", str, "", "what `error` is")
PREDICTIONS = _key("predictions", str, "", "file of the predictions, in the folder of the run")
# Tests that are asked in part.
ESTIMATED = _key("estimated", bool, "", "whether the test set was asked in part")
TEST_SIZE = _key("test_size", int, "", "examples of the test set, of which `seen` were asked")
ERROR_INTERVAL = _key("error_interval", list, "share", "95% interval of `error`, [low, high]")
KNOWN_MODELS = _key("known_models", int, "", "models whose answers were known")
SAVED_FLOPS = _key("saved_flops", int, "FLOP", "cost of the answers that were not asked")
KNOWN_ANSWERS = _key("known_answers", str, "", "digest of the answers of other runs")
# NEVIS'22.
OCCURRENCE = _key("occurrence", int, "", "how often the data has come, from 1")
YEAR = _key("year", int, "year", "of the task")
ROLE = _key("role", str, "", "`meta_train` or `meta_test`")
TASK_KIND = _key("task_kind", str, "", "`single_label` or `multi_label`")
DATASET = _key("dataset", str, "", "name of the data set")
DATASET_VERSION = _key("dataset_version", str, "", "version of the prepared data")
DEV_SIZE = _key("dev_size", int, "", "examples that hyper-parameters are chosen on")
SHARED_IMAGES = _key("shared_images", dict, "", "images that splits have in common, by pair")
RESIZED_IMAGES = _key("resized_images", dict, "", "copies that images were read from, by split")
SPLIT = _key("split", str, "", "`test` or `validation`")
START = _key("start", dict, "", "`from`: the past model; `candidates`: errors of those compared")
TRIALS = _key("trials", list, "", "hyper-parameters, status and validation error of each trial")
BEST_TRIAL = _key("best_trial", int, "", "the trial that is kept")
VALIDATION_ERROR = _key("validation_error", float, "share", "of the trial that is kept")
# Buckets: CLEAR and incremental learning.
TRAINED_BUCKET = _key("trained_bucket", int, "", "last bucket that was trained on, from 0")
BUCKET = _key("bucket", int, "", "bucket that is trained on or tested, from 0")
BUCKET_NAME = _key("bucket_name", str, "", "its name")
MODE = _key("mode", str, "", "`iid`, `streaming` or `challenge`")
ACCURACY = _key("accuracy", float, "share", "right answers of a test set")
ROW = _key("row", list, "share", "accuracies on buckets after this training; null: not tested")
SCENARIO = _key("scenario", str, "", "`domain`, `class` or `task`")
OUTPUTS = _key("outputs", str, "", "`all`, if classes have an output before they come")
NUM_TASKS = _key("num_tasks", int, "", "tasks of the series, or episodes that were answered")
CLASS_ORDER = _key("class_order", str, "", "labels in the order in which they come, the first 20")
CLASSES_SEEN = _key("classes_seen", int, "", "classes that have come")
AVERAGE_ACCURACY = _key("average_accuracy", float, "share", "mean over the tasks so far")
IN_DOMAIN = _key("in_domain", float, "share", "accuracy on the bucket just trained on")
NEXT_DOMAIN = _key("next_domain", float, "share", "accuracy on the bucket after it")
BACKWARD_TRANSFER = _key("backward_transfer", float, "share", "mean accuracy on buckets before")
FORWARD_TRANSFER = _key("forward_transfer", float, "share", "mean accuracy on buckets after")
ACCURACY_KNOWN = _key("accuracy_known", float, "share", "accuracy on images of known classes")
NUM_KNOWN_CLASSES = _key("num_known_classes", int, "", "classes that have come")
SEEN_UNKNOWN = _key("seen_unknown", int, "", "test images of other classes")
# Sequences: FLUID.
FIRST_STEP = _key("first_step", int, "", "first step of the record, from 0")
LEFT_OUT_SAMPLES = _key("left_out_samples", dict, "", "samples without an image, by class")
CLOSED_CORRECT = _key("closed_correct", int, "", "right answers among known classes")
NEW = _key("new", int, "", "samples of classes that were not known")
SEEN_SO_FAR = _key("seen_so_far", int, "", "`seen` of the sequence so far")
CORRECT_SO_FAR = _key("correct_so_far", int, "", "`correct` of the sequence so far")
CLOSED_CORRECT_SO_FAR = _key("closed_correct_so_far", int, "", "as `correct_so_far`")
NEW_SO_FAR = _key("new_so_far", int, "", "`new` of the sequence so far")
LABELS = _key("labels", list, "", "label of each step")
ANSWERS = _key("answers", list, "", "answer of each step; the number of classes: new; -1: none")
CLOSED_ANSWERS = _key("closed_answers", list, "", "answer of each step among known classes")
UNKNOWN = _key("unknown", list, "", "1 for each step whose class was not known")
MAX_LOGITS = _key("max_logits", list, "", "largest logit of a known class, of each step")
ENERGIES = _key("energies", list, "", "log-sum-exp of the logits of known classes, of each step")
SECOND_LOGITS = _key("second_logits", list, "", "second largest logit, of each step")
NEIGHBORS = _key("neighbors", list, "", "novelty score `nearest` of each step")
WINDOW_ACCURACY = _key("window_accuracy", float, "share", "right answers of the last steps")
REVEALED_SO_FAR = _key("revealed_so_far", int, "", "labels that have come")
UPDATE = _key("update", bool, "", "whether an offline phase follows")
REASON = _key("reason", str, "", "why, or why not")
UPDATES_REFUSED = _key("updates_refused", int, "", "updates that a budget forbade")
UPDATE_MACS = _key("update_macs", int, "MAC", "cost of an offline phase now; null: unknown")
STRATEGY = _key("strategy", dict, "", "state of the update strategy, to resume from")
PHASE = _key("phase", int, "", "number of the offline phase, from 1")
STEP = _key("step", int, "", "steps that were answered before it")
STORED = _key("stored", int, "", "samples that it trained on")
PASSES = _key("passes", int, "", "samples that went forward and backward; null: unknown")
TEACHER_PASSES = _key("teacher_passes", int, "", "samples that went through an earlier net")
EVENT_FLOPS = _key("event_flops", int, "FLOP", "cost of the phase")
EVENT_MACS = _key("event_macs", int, "MAC", "cost of the phase")
# Episodes: continual few-shot learning.
TASK_TYPE = _key("task_type", str, "", "`A`, `B`, `C` or `D`")
WAY = _key("way", int, "", "classes of a support set")
SHOT = _key("shot", int, "", "examples of a class in a support set")
TARGETS = _key("targets", int, "", "target examples of a class")
NUM_SUPPORT_SETS = _key("num_support_sets", int, "", "support sets of an episode")
CLASS_CHANGE_INTERVAL = _key("class_change_interval", int, "", "support sets of the same classes")
OVERWRITE = _key("overwrite", bool, "", "whether labels begin again with each change of classes")
CONVENTION = _key("convention", str, "", "`spec` or `reference`, how episodes are drawn")
FALLBACK = _key("fallback", str, "", "what is drawn where a class has too few images")
DATA = _key("data", str, "", "the images of the episodes")
EPISODE_SEED = _key("episode_seed", int, "", "seed of the test episodes")
TASK_BATCHING = _key("task_batching", str, "", "`grouped`, if episodes are computed as one net")
COMPILED = _key("compiled", bool, "", "whether XLA compiles an update")
UPDATES = _key("updates", int, "", "meta-updates, or gradient steps of a pretraining, so far")
LOSS = _key("loss", float, "", "mean meta-loss of the event; null: no update")
VALIDATION_ACCURACY = _key("validation_accuracy", float, "share", "on validation episodes")
ACCURACY_INTERVAL = _key("accuracy_interval_95", float, "share", "half of the 95% interval")
ATM = _key("atm", float, "ratio", "across-task memory: bytes of the state over those of images")
MACS_PER_TASK = _key("macs_per_task", float, "MAC", "cost of learning and answering an episode")
TRANSDUCTIVE = _key("transductive", bool, "", "whether answers depend on other target examples")
MODELS = _key("models", list, "", "events whose models answered together; []: the last one")
# Pretraining.
LABELLED = _key("labelled", bool, "", "whether the learner got labels")
LEARNING_RATE = _key("learning_rate", float, "", "of the last gradient step")
STEPS_EVENT = _key("steps_event", int, "", "gradient steps of the event")
ENCODER_DIGEST = _key("encoder_digest", str, "", "digest of the encoder's weights")
KNN_ACCURACY = _key("knn_accuracy", float, "share", "of nearest neighbors on held-out images")
# Lifelong evaluation.
TABLE = _key("table", str, "", "the test set and its models")
MODEL = _key("model", str, "", "the model that is held out")
NUM_ASKED = _key("num_asked", int, "", "answers that were asked for")
NUM_SAMPLES = _key("num_samples", int, "", "samples of the test set")
PER_SAMPLE_ERROR = _key("per_sample_error", float, "share", "mean difference from the estimate")
CONSTANT_ERROR = _key("constant_error", float, "share", "the same of the best constant")
CUT = _key("cut", int, "", "samples in the estimated order that are answered correctly")
ESTIMATED_ACCURACY = _key("estimated_accuracy", float, "share", "estimate of `accuracy`")
ACCURACY_ERROR = _key("accuracy_error", float, "share", "difference of the estimate")
IDENTICAL_MODELS = _key("identical_models", int, "", "known models with the same answers")
SAVED_ANSWERS = _key("saved_answers", int, "", "answers that were not asked for")
SAVED_GPU_HOURS = _key("saved_gpu_hours", float, "h", "their time on a GPU")
CACHE = _key("cache", str, "", "digest of the saved predictions")

_EVENT = (EVENT, RUN, PROTOCOL, KIND, FLOPS, MACS, EXAMPLES, GRADIENT_STEPS, SECONDS, PEAK_BYTES,
          SECONDS_EVENT, SELECTED_ON, RUN_DIGEST, DIGEST)
_TEST = (SEEN, CORRECT, ERROR, METRIC, PREDICTIONS)
_PART = (ESTIMATED, TEST_SIZE, ERROR_INTERVAL, KNOWN_MODELS, SAVED_FLOPS, KNOWN_ANSWERS)
_STREAM = (TASK, TASK_KEY, OCCURRENCE, YEAR, ROLE, TASK_KIND, NUM_CLASSES, DATASET, DATASET_VERSION,
           LEFT_OUT, RESIZED_IMAGES)
_SERIES = (TASK, TASK_KEY, NUM_CLASSES, TRAINED_BUCKET, BUCKET, BUCKET_NAME, MODE, SCENARIO,
           OUTPUTS, NUM_TASKS, CLASS_ORDER, CLASSES_SEEN)
_SEQUENCE = (TASK, TASK_KEY, NUM_CLASSES, LEFT_OUT, LEFT_OUT_SAMPLES)
_EPISODES = (ROLE, TASK_TYPE, WAY, SHOT, TARGETS, NUM_SUPPORT_SETS, NUM_CLASSES, SPLIT, DATA,
             CLASS_CHANGE_INTERVAL, OVERWRITE, CONVENTION, FALLBACK, EPISODE_SEED, TASK_BATCHING,
             COMPILED)
_typed: Any = TypedDict  # Type checkers want the names of keys a second time.


def _kind(name: str, meaning: str, *keys: str) -> Any:
  made = _typed(name, {key: KEYS[key].type for key in (*_EVENT, *keys)}, total=False)
  made.__doc__ = meaning
  return made


KINDS = (
    _kind("StreamTrain", "NEVIS'22: a task is learned.", *_STREAM, TRAIN_SIZE, DEV_SIZE,
          SHARED_IMAGES, START, TRIALS, BEST_TRIAL, VALIDATION_ERROR),
    _kind("StreamPredict", "NEVIS'22: a task is tested.", *_STREAM, SPLIT, *_TEST, *_PART),
    _kind("BucketTrain", "CLEAR and incremental learning: a bucket is learned.", *_SERIES,
          TRAIN_SIZE, VALIDATION_SIZE, UNLABELLED_SIZE),
    _kind("BucketPredict", "CLEAR and incremental learning: a bucket is tested.", *_SERIES, *_TEST,
          *_PART, ACCURACY, ROW, AVERAGE_ACCURACY, IN_DOMAIN, NEXT_DOMAIN, BACKWARD_TRANSFER,
          FORWARD_TRANSFER, ACCURACY_KNOWN, NUM_KNOWN_CLASSES, SEEN_UNKNOWN),
    _kind("BaseTrain", "FLUID: the base classes are learned.", *_SEQUENCE, TRAIN_SIZE,
          VALIDATION_SIZE),
    _kind("SequencePredict", "FLUID: steps of the sequence are answered.", *_SEQUENCE, FIRST_STEP,
          SEEN, CORRECT, ERROR, CLOSED_CORRECT, NEW, SEEN_SO_FAR, CORRECT_SO_FAR,
          CLOSED_CORRECT_SO_FAR, NEW_SO_FAR, LABELS, ANSWERS, CLOSED_ANSWERS, UNKNOWN, MAX_LOGITS,
          ENERGIES, SECOND_LOGITS, NEIGHBORS, WINDOW_ACCURACY, REVEALED_SO_FAR, UPDATE, REASON,
          UPDATES_REFUSED, UPDATE_MACS, STRATEGY, PREDICTIONS),
    _kind("PhaseTrain", "FLUID: an offline phase.", *_SEQUENCE, PHASE, STEP, STORED, REASON, PASSES,
          TEACHER_PASSES, EVENT_FLOPS, EVENT_MACS, STRATEGY),
    _kind("MetaTrain", "Continual few-shot learning: a part of the meta-training.", *_EPISODES,
          UPDATES, LOSS, VALIDATION_ACCURACY),
    _kind("EpisodePredict", "Continual few-shot learning: test episodes are answered.", *_EPISODES,
          *_TEST, ACCURACY, ACCURACY_INTERVAL, NUM_TASKS, ATM, MACS_PER_TASK, TRANSDUCTIVE, MODELS),
    _kind("Pretrain", "Pretraining: a portion of the updates.", TASK, TASK_KEY, LABELLED,
          TRAIN_SIZE, STEPS_EVENT, UPDATES, TRAIN_LOSS, LEARNING_RATE, ENCODER_DIGEST,
          KNN_ACCURACY),
    _kind("LifelongPredict", "Lifelong evaluation: a held-out model is estimated.", TABLE, MODEL,
          KNOWN_MODELS, NUM_ASKED, NUM_SAMPLES, PER_SAMPLE_ERROR, CONSTANT_ERROR, CUT, ACCURACY,
          ESTIMATED_ACCURACY, ACCURACY_ERROR, IDENTICAL_MODELS, CACHE, LEFT_OUT,
          SAVED_ANSWERS, SAVED_FLOPS, SAVED_GPU_HOURS))


def of_tests(records: Iterable[Record]) -> list[Record]:
  """Returns the records of Predict events."""
  return [record for record in records if record.get(KIND) == "predict"]


def of_steps(records: Iterable[Record]) -> list[Record]:
  """Returns the records of a sequence's steps."""
  return [record for record in records if FIRST_STEP in record]


def of_phases(records: Iterable[Record]) -> list[Record]:
  """Returns the records of a sequence's offline phases, without that of the base classes."""
  return [record for record in records if PHASE in record]
