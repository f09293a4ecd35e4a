# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Per-instance statistics of HELM, and the metric that it reports of each scenario."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
import json
import pathlib
import re
from typing import Any

import numpy as np

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import log_files
from suite.system import io_errors

# HELM's main metric of each scenario (main_name in its schemas), by the metric.
_MAIN = {
    ("quasi_exact_match",): "babi_qa bbq boolq civil_comments entity_data_imputation "
                            "entity_matching imdb legal_support legalbench lsat_qa med_qa raft "
                            "synthetic_reasoning wikifact",
    ("exact_match",): "blimp hellaswag mmlu openbookqa thai_exam truthful_qa",
    ("f1_score",): "narrative_qa natural_qa quac",
    ("final_number_exact_match", "exact_match_indicator"): "gsm",
    ("exact_match_indicator",): "dyck_language dyck_language_np",
    ("f1_set_match",): "synthetic_reasoning_natural",
    ("math_equiv_chain_of_thought", "math_equiv"): "math",
    ("rouge_2",): "summarization_cnndm summarization_xsum billsum_legal_summarization "
                  "eurlexsum_legal_summarization multilexsum_legal_summarization",
    ("pass",): "code_humaneval",
    ("test_avg",): "code_apps",
    ("bleu_4",): "wmt_14",
    ("chain_of_thought_correctness",): "gpqa mmlu_pro",
    ("ifeval_strict_accuracy",): "ifeval",
    ("omni_math_accuracy",): "omni_math",
    ("wildbench_score_rescaled",): "wildbench",
    ("RR@10",): "msmarco",
}
MAIN_METRICS = {scenario: names for names, text in _MAIN.items() for scenario in text.split()}
# What HELM has of right and wrong, for other scenarios.
_HELM = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
         "exact_match_indicator", "final_number_exact_match", "math_equiv_chain_of_thought",
         "math_equiv", "f1_score", "pass", "chain_of_thought_correctness", "ifeval_strict_accuracy")


def read(path: pathlib.Path, items: Sequence[log_files.Item], wanted: log_files.Wanted
         ) -> log_files.Log:
  """Reads the instances of a per_instance_stats.json.

  Raises:
    CacheError: an item is no instance; the metric or the perturbation that is wanted is missing.
  """
  folder = path.resolve().parent
  named = re.search(r"model=([^,/]+)", folder.name)
  task = _task(folder)
  spec = log_files.config(folder / "run_spec.json")
  adapter = spec.get("adapter_spec")
  model = named.group(1) if named else str(
      adapter.get("model") or "") if isinstance(adapter, dict) else ""
  chosen = wanted.metric(task)
  perturbed = wanted.filter(task)
  merged: dict[tuple[str, str, str, str], dict[str, float]] = {}
  places: dict[tuple[str, str, str, str], int] = {}
  dropped: dict[str, int] = {}
  for place, one, _, _ in items:
    where = f"{path}, instance {place - 1}"
    try:
      turned = str((one.get("perturbation") or {}).get("name", ""))
      key = (str(one["instance_id"]), turned, str(one.get("train_trial_index", 0)))
      stats = []
      for stat in one["stats"]:
        other = stat["name"].get("perturbation") or {}
        # Of pairs of an instance and its perturbed ones there are also the original and the worst.
        if bool(other) <= bool(turned) and other.get("computed_on") not in ("original", "worst"):
          stats.append((str(stat["name"]["name"]), str(stat["name"].get("split") or ""), stat))
    except (KeyError, TypeError, AttributeError) as error:
      raise cache_input.CacheError(
          f"{where} is no instance with instance_id and stats ({error!r}); expected HELM's "
          "per_instance_stats.json.") from error
    split = next((split for _, split, _ in stats if split), "")
    for name, _, stat in stats:
      count, total = stat.get("count", 1), log_files.number(stat.get("sum", 0))
      value = log_files.number(stat["mean"]) if "sum" not in stat and "mean" in stat else (
          total / count if isinstance(count, (int, float)) and count else np.nan)
      here = merged.setdefault((*key, split), {})
      places.setdefault((*key, split), place - 1)
      if abs(here.get(name, value) - value) > 1e-12:
        raise cache_input.CacheError(
            f"{where}: {name} of instance {key[0]!r}, trial {key[2]}, is {value:g}, and "
            f"{here[name]:g} in instance {places[(*key, split)]}. Remove one.")
      here[name] = value
  splits = {key[3] for key in merged if key[3]}
  main_split = "valid" if re.match("boolq|hellaswag|natural_qa|imdb|quac|msmarco|truthful_qa", task
                                   ) and "valid" in splits else "test"
  every = list(merged.items())
  if len(splits) > 1 and main_split in splits:
    every = [one for one in every if one[0][3] == main_split]
    dropped[f"of other splits than {main_split}"] = len(merged) - len(every)
  kinds = {key[1] for key, _ in every}
  if perturbed and perturbed not in ("none", *kinds):
    raise cache_input.CacheError(f"{path} has no perturbation {perturbed!r} (--filter); it has "
                                 f"{sorted(kinds - {''})}.")
  keep = perturbed if perturbed and perturbed != "none" else ""
  if "" in kinds or keep:
    left = [one for one in every if one[0][1] == keep]
    if len(left) < len(every):
      dropped["of perturbed instances" if not keep else f"other than {keep}"] = (
          len(every) - len(left))
    every = left
  names = list(dict.fromkeys(name for _, values in every for name in values))
  scenario = re.split("[:,]", task)[0]
  if chosen and chosen not in names:
    raise cache_input.CacheError(
        f"{path} has no metric {chosen!r}; it has {', '.join(sorted(names)[:8])}. Choose one: "
        "--score NAME.")
  metrics = {name: [values.get(name, np.nan) for _, values in every]
             for name in names if not chosen or name == chosen}
  # An instance with none of the metrics that may be meant was not scored by this class of metric.
  documents = [f"{key[0]}/{key[1]}" if key[1] else key[0] for key, _ in every]
  main = MAIN_METRICS.get(scenario, ())
  if scenario.startswith("mmlu_pro"):
    main = MAIN_METRICS["mmlu_pro"]
  hashes = _helm_hashes(folder)
  return log_files.Log(
      path, model or folder.name, task, documents, metrics, [keep or "none"] * len(every),
      [hashes.get((key[0], key[1]), 0) for key, _ in every],
      [f"{path}/{key[2]}" for key, _ in every], [places[key] for key, _ in every],
      "instance", main=main, named=tuple(dict.fromkeys([*main, *_HELM])), dropped=dropped)


def _task(folder: pathlib.Path) -> str:
  """Name of the task of a run, from its folder SCENARIO:ARGUMENTS,model=MODEL."""
  return re.sub(r",?model=[^,]*", "", folder.name).rstrip(":,")


def instance_lists(paths: Sequence[pathlib.Path], asked: Mapping[str, Collection[str]]
                   ) -> dict[str, list[Any]]:
  """Instances to evaluate, as HELM writes them (instances.json), by the name of the task.

  Args:
    paths: instances.json of runs of each task; of several runs of one task the first is taken.
    asked: ids of the instances of each task.

  Returns:
    The instances that are asked, in the order of HELM, and those that prompts are made of.

  Raises:
    CacheError: a file is no list of instances, or instances are missing.
  """
  found: dict[str, list[Any]] = {}
  for path in paths:
    task = _task(path.resolve().parent)
    if task not in asked or task in found:
      continue
    try:
      every = json.loads(path.read_text(encoding="utf-8-sig"))
      names = [str(one["id"]) for one in every]
      found[task] = [one for one, name in zip(every, names) if one.get("split") == "train"
                     or (name in asked[task] and not one.get("perturbation"))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
      raise cache_input.CacheError(f"{path} is no list of HELM's instances ({error!r}); expected "
                                   "the instances.json of a run.") from error
    if missing := sorted(set(asked[task]) - set(names)):
      raise cache_input.CacheError(f"{path} lacks {len(missing)} of the instances that are asked, "
                                   f"such as {missing[0]!r}. Take one of a run with all instances.")
  if missing := sorted(set(asked) - set(found)):
    raise cache_input.CacheError(f"No instances of {len(missing)} of the {len(asked)} tasks that "
                                 f"are asked, such as {missing[0]!r}: give the instances.json of "
                                 "a run of each, which stands beside per_instance_stats.json.")
  return found


def _helm_hashes(folder: pathlib.Path) -> dict[tuple[str, str], int]:
  """Hashes of the documents, (instance, perturbation) -> hash, from instances.json."""
  path, found = folder / "instances.json", {}
  try:
    if path.stat().st_size > log_files.MAX_CONFIG_BYTES:
      return {}
    for one in json.loads(path.read_text(encoding="utf-8-sig")):
      turned = str((one.get("perturbation") or {}).get("name", ""))
      found[str(one["id"]), turned] = answer_entries.document_hash(
          json.dumps([one.get("input"), one.get("references")], sort_keys=True))
  except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
    if io_errors.of(error) and not isinstance(error, FileNotFoundError):
      raise
    return {}
  return found
