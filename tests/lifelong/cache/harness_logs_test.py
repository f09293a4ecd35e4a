# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases after public reports of people who bring their logs, each with its right value.

The layouts are those that the harnesses write; the answers are our own. A case has files, options
and what is right: the share of correct answers of each model by task, or the question that is
asked.
"""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib

import numpy as np
import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import helm_logs
from suite.lifelong.cache import log_files

DATE = "2025-01-02T03-04-05.678901"


def _text(rows):
  return "".join(json.dumps(row) + "\n" for row in rows)


def _line(index, right, **more):
  return {"doc_id": index, "filter": "none", "metrics": ["acc"], "acc": float(right), **more}


def _samples(task, model="a", date=DATE, ending="jsonl"):
  return f"{model}/samples_{task}_{date}.{ending}"


def _stat(name, value, split="test", **more):
  return {"name": {"name": name, "split": split, **more}, "count": 1, "sum": value, "mean": value}


def _instances(metrics, num=10, trial=0, **more):
  """`metrics`: name -> function of the index."""
  return [{"instance_id": f"id{i}", "train_trial_index": trial, **more,
           "stats": [_stat(name, float(value(i))) for name, value in metrics.items()]}
          for i in range(num)]


def _few(num):
  return lambda index: index % 10 < num


TWO_FILTERS = [*({"doc_id": i, "exact_match": float(i % 10 < 4)} for i in range(10)),
               *({"doc_id": i, "exact_match": float(i % 10 < 7)} for i in range(10))]
NAMED_FILTERS = [{"doc_id": i, "filter": name, "metrics": ["exact_match"],
                  "exact_match": float(i < num)}
                 for name, num in (("strict-match", 4), ("flexible-extract", 7)) for i in range(10)]
TWO_METRICS = [_line(i, i < 3, metrics=["acc", "acc_norm"], acc_norm=float(i < 6))
               for i in range(10)]
RESULTS = {"results": {}, "model_name": "org/net", "config": {
    "model": "hf", "model_args": "pretrained=org/net,revision=step9,dtype=float"}, "configs": {
        "gsm8k": {"filter_list": [{"name": "strict-match"}, {"name": "flexible-extract"}]}}}
HELM = "{}:k=1,model=org_{}/per_instance_stats.json"
INSPECT = {"version": 2, "status": "success", "eval": {"task": "lab/arc", "model": "maker/net"},
           "samples": [{"id": i, "epoch": 1, "input": f"q{i}", "target": "A", "scores": {
               "choice": {"value": "C" if i < 6 else "I", "answer": "A"}}} for i in range(10)]}
MATCHES = [{"spec": {"completion_fns": ["gpt-x"], "eval_name": "test.dev.v0"}},
           *({"run_id": "1", "event_id": 2 * i, "sample_id": f"dev.{i}", "type": "sampling",
              "data": {"sampled": "b"}} for i in range(10)),
           *({"run_id": "1", "event_id": 2 * i + 1, "sample_id": f"dev.{i}", "type": "match",
              "data": {"correct": bool(i % 2), "expected": "a", "picked": "b"}} for i in range(10)),
           {"final_report": {"accuracy": 0.5}}]


def _csv(header, rows, by=","):
  return "\n".join(by.join(map(str, row)) for row in [header, *rows]) + "\n"


RIGHT = {  # name: (files, options, {task: {model: share of correct answers}}, words of the report)
    "two filters without a key, by number": (
        {_samples("gsm8k"): TWO_FILTERS}, {"keep": "gsm8k=2"}, {"gsm8k": {"a": 0.7}},
        "filter 2"),
    "their names from the results": (
        {_samples("gsm8k"): TWO_FILTERS, f"a/results_{DATE}.json": [RESULTS]},
        {"keep": "strict-match"}, {"gsm8k": {"org/net,revision=step9": 0.4}}, "strict-match"),
    "named filters": ({_samples("gsm8k"): NAMED_FILTERS}, {"keep": "flexible-extract"},
                      {"gsm8k": {"a": 0.7}}, "10 answers of other filters"),
    "a mixed suite": (
        {_samples("gsm8k"): NAMED_FILTERS, _samples("arc"): TWO_METRICS,
         _samples("mmlu_law"): [_line(i, i < 5) for i in range(10)]},
        {"score": "arc=acc_norm,mmlu_*=acc", "keep": "gsm8k=strict-match"},
        {"gsm8k": {"a": 0.4}, "arc": {"a": 0.6}, "mmlu_law": {"a": 0.5}}, "metric acc_norm"),
    "one filter is no choice": (
        {_samples("gsm8k"): NAMED_FILTERS, _samples("arc"): [_line(i, i < 5) for i in range(10)]},
        {"keep": "strict-match"}, {"gsm8k": {"a": 0.4}, "arc": {"a": 0.5}}, ""),
    "metrics that are equal are no choice": (
        {_samples("arc"): [_line(i, i < 3, metrics=["acc", "acc_norm"], acc_norm=float(i < 3))
                           for i in range(10)]}, {}, {"arc": {"a": 0.3}}, "are equal"),
    "a list in .jsonl, of an old version": (
        {f"{m}/pretrained__arc_easy.jsonl": json.dumps(
            [{"doc_id": i, "doc": {"q": i}, "acc": float(i < n)} for i in range(10)], indent=2)
         for m, n in (("a", 3), ("b", 5))}, {}, {"arc_easy": {"a": 0.3, "b": 0.5}}, ""),
    "an old version, all models in one folder": (
        {f"out/pretrained__org__net-{m}_arc_easy.jsonl": json.dumps(
            [{"doc_id": i, "acc": float(i < n)} for i in range(10)])
         for m, n in ((1, 3), (2, 5))}, {}, {"arc_easy": {"org/net-1": 0.3, "org/net-2": 0.5}}, ""),
    "an old version, with its results": (
        {"out/pretrained__org__net,revision__step9,dtype__float_my_task.jsonl": json.dumps(
            [{"doc_id": i, "acc": float(i < 3)} for i in range(10)]),
         "out/results.json": [RESULTS]},
        {}, {"my_task": {"org/net,revision=step9": 0.3}}, "no samples in "),
    "lines in .json": ({_samples("arc", ending="json"): [_line(i, i < 3) for i in range(10)]},
                       {}, {"arc": {"a": 0.3}}, ""),
    "True as text": ({_samples("arc"): [_line(i, 0, acc=str(i < 3)) for i in range(10)]},
                     {}, {"arc": {"a": 0.3}}, ""),
    "two models in one folder, by their results": (
        {f"logs/samples_arc_{DATE}.jsonl": [_line(i, i < 3) for i in range(10)],
         "logs/samples_arc_2026-01-02T03-04-05.678901.jsonl": [_line(i, i < 5) for i in range(10)],
         f"logs/one_{DATE}.json": [{"results": {}, "model_name": "x/1"}],
         "logs/two_2026-01-02T03-04-05.678901.json": [{"results": {}, "model_name": "x/2"}]},
        {}, {"arc": {"x/1": 0.3, "x/2": 0.5}}, "no samples in"),
    "two runs in one folder, of one model": (
        {_samples("arc"): [_line(i, i < 3) for i in range(10)],
         _samples("arc", date="2026-01-02T03-04-05.678901"): [_line(i, i < 4) for i in range(10)]},
        {"repeats": "folder"}, {"arc": {"a": 0.4}}, "10 answers are means"),
    "what simple_evaluate returns": (
        {"all.json": [{**RESULTS, "samples": {
            "arc": [_line(i, i < 3) for i in range(10)],
            "boolq": [_line(i, i < 4) for i in range(10)]}}]}, {},
        {"arc": {"org/net,revision=step9": 0.3}, "boolq": {"org/net,revision=step9": 0.4}}, ""),
    "packed lines, some missing": (
        {_samples("arc", ending="jsonl.gz"): [_line(i, i < 3, acc=None if i > 7 else float(i < 3))
                                              for i in range(10)]}, {}, {"arc": {"a": 3 / 8}}, ""),
    "the same lines again": ({_samples("arc"): 2 * [_line(i, i < 3) for i in range(10)]}, {},
                             {"arc": {"a": 0.3}}, "10 lines that repeat another line exactly"),
    "HELM, a scenario's main metric": (
        {HELM.format("narrative_qa", m): [_instances({
            "exact_match": _few(1), "f1_score": _few(n)})] for m, n in (("a", 5), ("b", 7))},
        {}, {"narrative_qa:k=1": {"org_a": 0.5, "org_b": 0.7}}, "f1_score is the metric"),
    "HELM, several entries an instance": (
        {HELM.format("mmlu", "a"): [[*_instances({"exact_match": _few(5)}),
                                     *_instances({"toxic_frac": lambda i: 0.0})]]},
        {}, {"mmlu:k=1": {"org_a": 0.5}}, ""),
    "HELM, perturbed instances": (
        {HELM.format("mmlu", "a"): [[*_instances({"exact_match": _few(5)}), *_instances(
            {"exact_match": _few(0)}, perturbation={"name": "typos"})]]},
        {}, {"mmlu:k=1": {"org_a": 0.5}}, "10 answers of perturbed instances were left out"),
    "HELM, trials": (
        {HELM.format("mmlu", "a"): [sum((_instances(
            {"exact_match": lambda i, t=t: (i < 5) ^ (t == i % 3)}, trial=t)
                                         for t in range(3)), [])]},
        {"repeats": "mean"}, {"mmlu:k=1": {"org_a": 0.5}}, "10 answers are means"),
    "HELM, other files beside": (
        {HELM.format("mmlu", "a"): [_instances({"exact_match": _few(5)})],
         "mmlu:k=1,model=org_a/run_spec.json": [{"name": "mmlu"}],
         "mmlu:k=1,model=org_a/stats.json": [[_stat("exact_match", 0.5)]]},
        {}, {"mmlu:k=1": {"org_a": 0.5}}, "no samples in"),
    "inspect-ai": ({"log.json": [INSPECT]}, {}, {"lab/arc": {"maker/net": 0.6}}, ""),
    "inspect-ai, two tasks": (
        {"log.json": [INSPECT], "more.json": [{**INSPECT, "eval": {**INSPECT["eval"],
                                                                   "task": "lab/boolq"},
                                               "samples": INSPECT["samples"][4:8]}]}, {},
        {"lab/arc": {"maker/net": 0.6}, "lab/boolq": {"maker/net": 0.5}}, ""),
    "inspect-ai, two scorers": (
        {"log.json": [{**INSPECT, "samples": [{**one, "scores": {
            **one["scores"], "judge": {"value": 1}}} for one in INSPECT["samples"]]}]},
        {"score": "arc=choice"}, {"lab/arc": {"maker/net": 0.6}}, "metric choice"),
    "OpenCompass, details by number or in a list": (
        {"a/gsm8k.json": [{"accuracy": 30.0, "details": {
            str(i): {"pred": "4", "answer": "4", "correct": i < 3} for i in range(10)}}],
         "b/gsm8k.json": [{"accuracy": 50.0, "details": [
             {"pred": "4", "answer": "4", "correct": i < 5} for i in range(10)]}]},
        {}, {"gsm8k": {"a": 0.3, "b": 0.5}}, ""),
    "evalplus, a record for each generation": (
        {"net_eval_results.json": [{"date": "2025-01-02 03:04", "hash": "h", "eval": {
            f"HumanEval/{i}": [{"task_id": f"HumanEval/{i}", "solution": "", "base_status": "pass",
                                "plus_status": "pass" if i < 4 else "fail"}] for i in range(10)}}]},
        {}, {"HumanEval": {"net": 0.4}}, "plus is the metric that its harness reports"),
    "evalplus, base tests alone, in the folder of the samples": (
        {"net/eval_results.json": [{"date": "2025-01-02 03:04", "hash": "h", "eval": {
            f"Mbpp/{i}": [{"task_id": f"Mbpp/{i}", "solution": "", "plus_status": None,
                           "base_status": "timeout" if i else "pass", "base_fail_tests": [],
                           "plus_fail_tests": []}] for i in range(10)}}]},
        {}, {"Mbpp": {"net": 0.1}}, "metric base"),
    "evalplus, two files of present names": (
        {f"{m}.eval_results.json": [{"date": "", "hash": "h", "eval": {
            f"HumanEval/{i}": [{"task_id": f"HumanEval/{i}", "base_status": "pass",
                                "plus_status": "pass" if i < n else "fail"}] for i in range(10)}}]
         for m, n in (("a", 3), ("b", 5))}, {"score": "plus"}, {"HumanEval": {"a": 0.3, "b": 0.5}},
        ""),
    "evalplus, lists of older versions": (
        {"net_eval_results.json": [{"date": "", "hash": "h", "eval": {
            f"HumanEval/{i}": {"nfiles": 2, "base": [["success", []], ["failed", []]],
                               "plus": [["success", []], ["success", []]]} for i in range(10)}}]},
        {"score": "plus", "repeats": "pass@2"}, {"HumanEval": {"net": 1.0}},
        "pass@2 of repeated runs"),
    "AlpacaEval": (
        {"annotations.json": [[{"instruction": f"ask {i}", "output_1": "", "output_2": "",
                                "generator_1": "base", "generator_2": "net", "dataset": "koala",
                                "annotator": "judge", "preference": 1.0 + (i < 3)}
                               for i in range(10)]]}, {}, {"alpaca_eval": {"net": 0.3}}, ""),
    "every-eval-ever": (
        {"x.jsonl": [{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "lab/net",
                      "evaluation_name": "gsm8k", "sample_id": f"q{i}",
                      "interaction_type": "single_turn", "input": {"raw": "", "reference": []},
                      "answer_attribution": [], "evaluation": {
                          "score": float(i < 3), "is_correct": i < 3}} for i in range(10)]},
        {}, {"gsm8k": {"lab/net": 0.3}}, "metric score"),
    "lmms-eval": (
        {"net/20250102_030405_samples_mmmu.jsonl": [
            {"doc_id": i, "target": "A", "filtered_resps": ["A"], "doc_hash": f"h{i}", "input": "",
             "exact_match": float(i < 6)} for i in range(10)]}, {}, {"mmmu": {"net": 0.6}}, ""),
    "openai/evals": ({"x.jsonl": MATCHES}, {}, {"test.dev.v0": {"gpt-x": 0.5}}, ""),
    "py-irt": ({"x.jsonlines": [{"subject_id": m, "responses": {f"q{i}": int(i < n)
                                                                for i in range(10)}}
                                for m, n in (("a", 3), ("b", 5))]}, {}, {"": {"a": 0.3, "b": 0.5}},
               ""),
    "objects that are lines of a table": (
        {"x.jsonl": [{"model": "a", "task": "arc", "id": i, "correct": i < 3} for i in range(10)]},
        {}, {"arc": {"a": 0.3}}, ""),
    "an id within a task, and one of all": (
        {"t.csv": _csv(["model", "task", "id", "sample_id", "correct"], [
            (m, t, i, f"{t}-{i}", int(i < n)) for m, n in (("a", 3), ("b", 5))
            for t in ("arc", "boolq") for i in range(10)])},
        {}, {"arc": {"a": 0.3, "b": 0.5}, "boolq": {"a": 0.3, "b": 0.5}}, "id is column sample_id"),
    "an id within a task": (
        {"t.csv": _csv(["model", "task", "id", "correct"], [
            ("a", t, i, int(i < n)) for t, n in (("arc", 3), ("boolq", 5)) for i in range(10)])},
        {}, {"arc": {"a": 0.3}, "boolq": {"a": 0.5}}, ""),
    "columns of other names": (
        {"t.csv": _csv(["checkpoint", "part", "nr", "ok"], [
            ("a", t, i, int(i < n)) for t, n in (("arc", 3), ("boolq", 5)) for i in range(10)])},
        {"model_column": "checkpoint", "task_column": "part", "id_column": "nr", "score": "ok"},
        {"arc": {"a": 0.3}, "boolq": {"a": 0.5}}, ""),
    "a line a model, its column by name": (
        {"t.csv": _csv(["q0", "name", "q1", "q2"], [(1, "a", 0, 1), (0, "b", 0, 1)])},
        {"model_column": "name"}, {"": {"a": 2 / 3, "b": 1 / 3}}, ""),
    "semicolons, and decimals with a comma": (
        {"t.csv": _csv(["model", "id", "correct"], [("a", i, "1,0" if i < 3 else "0,0")
                                                    for i in range(10)], ";")},
        {}, {"": {"a": 0.3}}, ""),
    "tabs, packed": ({"t.tsv.gz": _csv(["model", "id", "correct"], [
        ("a", i, int(i < 3)) for i in range(10)], "\t")}, {}, {"": {"a": 0.3}}, ""),
    "R's logical values, quoted": (
        {"r.csv": '"model","id","correct"\n' + "".join(
            f'"a","q{i}",{("TRUE", "FALSE", "NA")[i % 3]}\n' for i in range(9))},
        {}, {"": {"a": 0.5}}, ""),
    "a column of metrics": (
        {"t.csv": _csv(["model", "task", "id", "metric", "value"], [
            ("a", "arc", i, name, int(i < n)) for name, n in (("acc", 3), ("acc_norm", 6))
            for i in range(10)])}, {"score": "arc=acc_norm"}, {"arc": {"a": 0.6}},
        "10 answers of other metrics"),
    "trials in a table": (
        {"t.csv": _csv(["model", "id", "trial", "correct"], [
            ("a", i, t, int(i < 3)) for t in range(2) for i in range(10)])},
        {"repeats": "mean"}, {"": {"a": 0.3}}, "10 answers are means"),
}
ASKED = {  # name: (files, options, words of the message)
    "two filters without a key": ({_samples("gsm8k"): TWO_FILTERS}, {}, "filters 1, 2.*filter gsm"),
    "which are no repeats": ({_samples("gsm8k"): TWO_FILTERS}, {"repeats": "mean"}, "filters 1, 2"),
    "a filter that the log does not name": ({_samples("gsm8k"): TWO_FILTERS},
                                            {"keep": "strict-match"}, "does not name them"),
    "several metrics and filters": (
        {_samples("gsm8k"): NAMED_FILTERS, _samples("arc"): TWO_METRICS}, {},
        "arc has metrics acc, acc_norm; gsm8k has filters strict-match, flexible-extract.*"
        "--score arc=acc --filter gsm8k=strict-match"),
    "a metric that one task lacks": (
        {_samples("arc"): TWO_METRICS, _samples("mmlu"): [_line(0, 1)]}, {"score": "acc_norm"},
        "no metric 'acc_norm'; it has acc. Choose by task: --score mmlu=acc"),
    "a task that was not read": ({_samples("arc"): TWO_METRICS}, {"score": "acc,ark=acc_norm"},
                                 "names ark; the tasks are arc"),
    "one id, two documents": (
        {_samples("arc", m): [_line(i, 1, doc_hash=str(i + (m == "d"))) for i in range(10)]
         for m in "abd"}, {}, "d/samples.*and .*a/samples.*'arc/0' is not the same document; 10"),
    "the same of an old version and a new one": (
        {_samples("arc", "a"): [_line(i, 1, doc={"q": i}) for i in range(10)],
         _samples("arc", "b"): [_line(i, 1, doc={"q": 9 - i}) for i in range(10)]}, {},
        "not the same document"),
    "two runs of a task": (
        {_samples("arc"): [_line(i, i < 3) for i in range(10)],
         _samples("arc", date="2026-01-02T03-04-05.678901"): [_line(i, i < 4) for i in range(10)]},
        {}, "2026-.*line 4: model 'a' and id 'arc/3'.*2025-.*may be two models.*--repeats folder"),
    "two models in one folder are not averaged": (
        {_samples("arc"): [_line(i, i < 3) for i in range(10)],
         _samples("arc", date="2026-01-02T03-04-05.678901"): [_line(i, i < 4) for i in range(10)]},
        {"repeats": "mean"}, "may be two models.*'a' is their folder"),
    "HELM, a scenario without a known metric": (
        {HELM.format("my_scenario", "a"): [_instances({
            "exact_match": _few(1), "f1_score": _few(5)})]}, {}, "metrics exact_match, f1_score"),
    "HELM, trials": (
        {HELM.format("mmlu", "a"): [sum((_instances(
            {"exact_match": lambda i: i < 5}, trial=t) for t in range(2)), [])]}, {},
        "repeated runs: .*--repeats mean"),
    "inspect-ai, epochs": (
        {"log.json": [{**INSPECT, "samples": [{**one, "epoch": e} for e in (1, 2)
                                              for one in INSPECT["samples"]]}]}, {},
        "repeated runs: .*--repeats mean"),
    "two columns of answers": (
        {"w.csv": _csv(["id", "is_correct", "score"], [(f"q{i}", i % 2, 0.5) for i in range(10)])},
        {}, "columns score, is_correct.*--score score or --score is_correct"),
    "an id within a task of an unknown column": (
        {"t.csv": _csv(["model", "topic", "id", "correct"], [
            ("a", t, i, 1) for t in ("arc", "boolq") for i in range(10)])},
        {}, "differ in column 'topic'.*--task topic"),
    "lines of models that come again": (
        {"t.csv": _csv(["name", "nr", "ok"], [("a", 0, 1), ("a", 1, 1)])},
        {"model_column": "name"}, "'a' comes again.*--id COLUMN"),
    "names that are not found": ({"t.csv": _csv(["checkpoint", "nr", "ok"], [("a", 0, 1)])}, {},
                                 "line a model has --model only"),
    "two tasks of one key": (
        {_samples("a"): [_line("b/1", 1)], "other/samples_a.jsonl": [_line(2, 1)],
         "x.csv": _csv(["model", "task", "id", "correct"], [("m", "a/b", 1, 1)])}, {},
        "those of task a/b by name"),
    "simple-evals has no answers": (
        {"mmlu_net.json": [{"score": 0.5, "score:std": 0.5, "chars": 9.0, "chars:std": 1.0}]}, {},
        "result of simple-evals, which writes means"),
    "a judge's score outside of its range": (
        {"annotations.json": [[{"instruction": "ask", "generator_1": "base", "generator_2": "net",
                                "preference": 7.0}]]}, {}, "score of 7.0; those of AlpacaEval"),
    "a writer's field that is missing": (
        {"x.jsonl": [{"model_id": "m", "evaluation_name": "t", "sample_id": None,
                      "evaluation": {}}]}, {}, "of every-eval-ever has no 'sample_id'"),
    "no samples": ({f"a/results_{DATE}.json": [RESULTS]}, {}, "no file has samples"),
}


def _read(folder, files, options):
  paths = []
  for name, content in files.items():
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else (
        json.dumps(content[0], indent=1) if len(content) == 1 and not name.endswith("jsonl") else
        _text(content))
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    paths.append(path)
  return accuracy_import.read_reported(paths, accuracy_import.Options(**options))


@pytest.mark.parametrize("name", RIGHT)
def test_logs_give_the_right_values(tmp_path, name):
  files, options, right, words = RIGHT[name]
  (table,), report = _read(tmp_path, files, options)
  answers = table.bits(0.5)
  for task, models in right.items():
    mine = np.array([one.startswith(f"{task}/") if task else True for one in table.ids])
    for model, share in models.items():
      row = answers[table.models.index(model), mine]
      assert np.mean(row[row >= 0]) == pytest.approx(share), (task, model)
  assert set(table.models) == {model for models in right.values() for model in models}
  assert set(table.tasks) == set(filter(None, right))
  assert words in "\n".join(report.lines()) and json.dumps(report.record())


@pytest.mark.parametrize("name", ASKED)
def test_what_is_not_clear_is_asked(tmp_path, name):
  files, options, words = ASKED[name]
  with pytest.raises(accuracy_cache.CacheError, match=words) as found:
    _read(tmp_path, files, options)
  assert "\n" not in str(found.value)


def _zstd(data):
  sink = pa.BufferOutputStream()
  with pa.CompressedOutputStream(sink, "zstd") as stream:
    stream.write(data)
  return sink.getvalue().to_pybytes()


def _zip_of_zstd(path, members):
  """A zip file whose members have method 93, as inspect-ai writes them."""
  body, directory = b"", b""
  for name, data in members.items():
    packed, encoded = _zstd(data), name.encode()
    fields = (b"\x14\0\0\0\x5d\0" + bytes(4) + zlib.crc32(data).to_bytes(4, "little") +
              len(packed).to_bytes(4, "little") + len(data).to_bytes(4, "little") +
              len(encoded).to_bytes(2, "little") + b"\0\0")
    directory += (b"PK\x01\x02\x14\0" + fields + bytes(10) + len(body).to_bytes(4, "little") +
                  encoded)
    body += b"PK\x03\x04" + fields + encoded + packed
  num = len(members).to_bytes(2, "little")
  path.write_bytes(body + directory + b"PK\x05\x06" + bytes(4) + num + num +
                   len(directory).to_bytes(4, "little") + len(body).to_bytes(4, "little") + b"\0\0")


def _members(kind):
  header = json.dumps({key: value for key, value in INSPECT.items() if key != "samples"}).encode()
  if kind == "summaries":
    return {"header.json": header, "summaries.json": json.dumps(INSPECT["samples"]).encode()}
  return {"header.json": header, **{f"samples/{one['id']}_epoch_1.json": json.dumps(one).encode()
                                    for one in INSPECT["samples"]}}


@pytest.mark.parametrize("kind", ["summaries", "samples"])
@pytest.mark.parametrize("packed", ["deflated", "zstd"])
def test_eval_files_of_inspect(tmp_path, kind, packed):
  path = tmp_path / "x.eval"
  if packed == "zstd":
    _zip_of_zstd(path, _members(kind))
  else:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
      for name, data in _members(kind).items():
        archive.writestr(name, data)
  found = accuracy_import.read(path)
  assert found.models == ["maker/net"] and found.ids[:2] == ["lab/arc/0", "lab/arc/1"]
  assert found.answers.tolist() == [[1] * 6 + [0] * 4]
  path.write_bytes(path.read_bytes()[:-30])
  with pytest.raises(accuracy_cache.CacheError, match="x.eval"):
    accuracy_import.read(path)


def test_sizes_are_bounded(tmp_path, monkeypatch):
  for name, value in (("MAX_BYTES", 1 << 20), ("_FREE_BYTES", 1 << 12), ("_MAX_RATIO", 20)):
    monkeypatch.setattr(log_files, name, value)
  bomb = b'{"doc_id": 1, "acc": 1, "pad": "' + bytes(1 << 19).replace(b"\0", b"x") + b'"}\n'
  (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(bomb))
  (tmp_path / "x.jsonl").write_bytes(3 * bomb)
  (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"id,correct\n" + b"1,1\n" * (1 << 18)))
  members = {**_members("summaries"), "header.json": b'"' + bytes(1 << 19).replace(b"\0", b"x")}
  _zip_of_zstd(tmp_path / "x.eval", members)
  for name in ("x.jsonl.gz", "x.jsonl", "t.csv.gz", "x.eval"):
    with pytest.raises(accuracy_cache.CacheError, match="allowed"):
      accuracy_import.read(tmp_path / name)


@pytest.mark.parametrize("text", [
    "[" * 100_000, '{"a":' * 100_000, '{"doc_id": 1, "acc": 1}\n{"doc_id', "[1, 2]", '{"eval": 3}',
    '[{"instance_id": 1, "stats": [3]}]', '{"subject_id": "a", "responses": 3}', "",
    '{"spec": {}}\n{"event_id": 1}', '{"doc_id": 1, "acc": 1e999}',
    '{"doc_id": 1, "acc": 1' + "0" * 400 + "}",
    '{"eval": {"task": "a", "model": "b"}, "samples": 3}',
    '{"samples": {"arc": [3]}, "config": 3}', '{"doc_id": 1, "metrics": ["acc"]}'])
def test_other_content_is_refused(tmp_path, text):
  (tmp_path / "x.json").write_text(text)
  with pytest.raises(accuracy_cache.CacheError, match="x.json"):
    accuracy_import.read(tmp_path / "x.json")


def test_a_parquet_with_tasks_and_hashes(tmp_path):
  table = {"model": ["a", "a", "b", "b"], "task": ["arc"] * 4, "doc_id": [0, 1, 0, 1],
           "doc_hash": ["x", "y", "x", "y"], "acc": [True, False, None, True]}
  parquet.write_table(pa.table(table), tmp_path / "t.parquet")
  found = accuracy_import.read(tmp_path / "t.parquet")
  assert found.ids == ["arc/0", "arc/1"] and found.answers.tolist() == [[1, 0], [-1, 1]]
  assert len(set(found.hashes.tolist()) - {0}) == 2
  parquet.write_table(pa.table({**table, "doc_hash": ["x", "y", "y", "x"]}), tmp_path / "t.parquet")
  with pytest.raises(accuracy_cache.CacheError, match="line 3 and .*line 1: .* 2 of 2 documents"):
    accuracy_import.read(tmp_path / "t.parquet")


def test_instances_of_helm_that_are_asked_are_written_as_helm_has_them(tmp_path):
  paths = []
  for task, model in (("mmlu:subject=law", "a"), ("gsm", "a"), ("gsm", "b")):
    folder = tmp_path / f"{task}{',' if ':' in task else ':'}model=org_{model}"
    folder.mkdir()
    paths.append(folder / "instances.json")
    paths[-1].write_text(json.dumps([
        {"id": f"id{i}", "input": {"text": f"{task} {i}"}, "split": "train" if i == 0 else "test",
         **({"perturbation": {"name": "typos"}} if i == 3 else {})} for i in range(4)]))
  found = helm_logs.instance_lists(paths, {"gsm": {"id2"}, "mmlu:subject=law": {"id1", "id2"}})
  assert {task: [one["id"] for one in each] for task, each in found.items()} == {
      "gsm": ["id0", "id2"], "mmlu:subject=law": ["id0", "id1", "id2"]}
  assert found["gsm"][1] == {"id": "id2", "input": {"text": "gsm 2"}, "split": "test"}
  with pytest.raises(cache_input.CacheError, match="lacks 1 of the instances.*'id9'"):
    helm_logs.instance_lists(paths, {"gsm": {"id9"}})
  with pytest.raises(cache_input.CacheError, match="No instances of 1 of the 2 tasks.*'arc'"):
    helm_logs.instance_lists(paths, {"gsm": {"id2"}, "arc": {"id1"}})


@pytest.mark.parametrize("columns, path", [
    (("doc", "metric", "model_response"), "details/lab/net/D/details_mmlu|x|0_{}.parquet"),
    (("metrics", "full_prompt", "example"), "details_lab__net/D/details_mmlu|x|0_{}.parquet")])
def test_details_of_lighteval_are_read_from_their_folder(tmp_path, columns, path):
  """Of lighteval's present form, and of the first Open LLM Leaderboard."""
  path = tmp_path / path.format(DATE)
  path.parent.mkdir(parents=True)
  rows = [{"doc": {"id": str(i), "query": f"ask {i}"}, "metric": {"acc": float(i < 4)},
           "model_response": "", "metrics": {"acc": float(i < 4)}, "full_prompt": f"ask {i}",
           "example": ""} for i in range(10)]
  parquet.write_table(pa.Table.from_pylist([{name: row[name] for name in columns}
                                            for row in rows]), path)
  table, = accuracy_import.read_all([tmp_path], accuracy_import.Options())  # A folder.
  assert table.models == ["lab/net"] and set(table.tasks) == {"mmlu_x_0"}
  assert table.answers.mean() == pytest.approx(0.4) and len(table.ids) == 10
  (tmp_path / "none").mkdir()
  with pytest.raises(cache_input.CacheError, match="none is a folder without files of answers"):
    accuracy_import.read_all([tmp_path / "none"], accuracy_import.Options())
