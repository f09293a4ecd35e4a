# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The panels of a small stream of two seeds, compared with values worked out by hand."""

import math

import nevis_runs
import pytest

from suite.metrics import task_stream
from suite.reporting import figures
from suite.reporting.nevis_panels import panel_list
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import transfer_panels

FACTS = {"a": stream_results.TaskFacts("ocr", 400, 28.0),
         "b": stream_results.TaskFacts("object", 2_000),
         "c": stream_results.TaskFacts("ocr", None, 200.0)}
KNN = {"b": {"a": 0.5}, "a@2": {"a": 0.1, "b": 0.3}, "c": {"a": 0.2, "b": 0.6, "a@2": 0.4}}


def _load(dirs, names=(panel_list.ALL,), facts=None):
  return [panel for results in stream_results.load(dirs)
          for panel in panel_list.build(results, names, facts)]


@pytest.fixture(scope="module", name="panels")
def _panels(tmp_path_factory):
  folder = tmp_path_factory.mktemp("runs")
  for seed, shift in ((0, 0.0), (1, 0.1)):
    work = folder / f"seed{seed}"
    nevis_runs.write(work / "indep", (0.4, 0.5, 0.4, 0.6), seed=seed)
    nevis_runs.write(work / "ft_d", (0.4, 0.3 + shift, 0.2, 0.4 + shift), seed=seed,
                     starts=("random", "a", "a", "b"), candidates=KNN,
                     flops={"train": 100, "select": 20, "predict": 7})
    nevis_runs.write(work / "pt", (0.4, 0.5, 0.3, 0.3), seed=seed, starts=("encoder",) * 4,
                     flops={"train": 90, "pretrain": 500, "predict": 7})
  nevis_runs.write(folder / "seed0" / "slow", (0.4, 0.5), is_finished=False)
  return {panel.name: panel for panel in _load([folder], facts=FACTS)}


def _rows(panel):
  return {row[0]: row[1:] for row in panel.rows}


def test_panels_have_names_and_can_be_drawn(panels):
  assert list(panels) == [
      "stream", "tasks", "pareto", "pretraining", "regret", "domain", "size", "resolution",
      "forward_transfer", "starts_ft_d", "transfer_knn_ft_d", "transfer_trained"]
  for name, panel in panels.items():
    assert panel.text_table().text()
    if name not in ("tasks", "pretraining"):
      figures.draw(panel.chart, title=panel.title).draw_without_rendering()


def test_data_sets_sizes_and_domains_by_year(panels):
  # The facts have sizes of a (twice in the stream) and b; c has its 400,000 and 100 of the records.
  assert panels["stream"].rows == [
      ["2010", 1, 400, 400, "ocr"], ["2012", 1, 2_000, 2_400, "object"],
      ["2019", 1, 400, 2_800, "ocr"], ["2020", 1, 400_100, 402_900, "ocr"]]


def test_the_whole_stream_is_figure_2(panels):
  rows = {row[0]: row for row in panel_list.full_stream().rows}
  assert sum(row[1] for row in rows.values()) == 106 and not {"2002", "2003"} & set(rows)
  assert "satellite" in rows["1992"][4]


def test_pareto_with_and_without_pretraining(panels):
  rows = _rows(panels["pareto"])  # seeds, error, deviation, without, on front, with, on front
  assert rows["ft_d"] == [2, pytest.approx(0.325), pytest.approx(0.05 / math.sqrt(2)), 120, "",
                          120, "yes"]
  assert rows["pt"] == [2, pytest.approx(0.3), pytest.approx(0.0), 90, "yes", 590, "yes"]
  assert rows["indep"] == [2, 0.5, 0.0, 100, "", 100, "yes"]
  assert "slow" not in rows and any("slow: partial" in n for n in panels["pareto"].notes)


def test_unknown_costs_are_named_and_never_drawn_as_zero(tmp_path):
  nevis_runs.write(tmp_path / "ft_d", (0.1,) * 4, flops={"train": None})
  nevis_runs.write(tmp_path / "pt", (0.2,) * 4, flops={"train": 5, "pretrain": None})
  [panel] = _load([tmp_path], ["pareto"])
  rows = _rows(panel)
  assert rows["ft_d"][3:] == [None, "", None, ""] and rows["pt"][3:] == [5, "yes", None, ""]
  assert panel.notes == ["Not in the figure, FLOPs not counted: ft_d, pt."]
  drawn = {name: {x for series in plot.series for x in series.x}
           for name, plot in panel.chart.choices.items()}
  assert drawn == {"without pretraining": {5}, "with pretraining": set()}


def test_regret_is_against_the_mean_of_independents_seeds(panels):
  rows = _rows(panels["regret"])  # against, seeds, tasks, meta-test, deviation, all, deviation
  assert rows["ft_d"] == ["indep", 2, 4, pytest.approx(-0.35), pytest.approx(0.1 / math.sqrt(2)),
                          pytest.approx(-0.5), pytest.approx(0.2 / math.sqrt(2))]
  assert rows["indep"][3:] == [0, 0, 0, 0]
  assert rows["slow"] == ["indep", 1, 2, None, None, None, None]  # Not known to the end.
  assert panels["regret"].arrays["curves"]["slow"] == [[0.0, 0.0, None, None]]


def test_groups_count_all_tasks_and_need_all_of_a_group(panels):
  rows = {tuple(row[:2]): row[2:] for row in panels["domain"].rows}
  assert rows["ocr", "indep"] == [3, pytest.approx(1.4 / 3), 0, 2, None]
  assert rows["ocr", "ft_d"][1] == pytest.approx(1.05 / 3)
  assert rows["ocr", "ft_d"][4] == pytest.approx(-0.35 / 3)
  assert rows["ocr", "slow"] == [3, None, None, 0, None]
  assert rows["object", "slow"] == [1, 0.5, None, 1, 0.0]
  sizes = {row[0]: row[2] for row in panels["size"].rows}
  # c has the number of its records, 400,000 and 100.
  assert sizes == {"< 1,000": 2, "1,000 to 10,000": 1, "> 100,000": 1}
  assert list(dict.fromkeys(row[0] for row in panels["resolution"].rows)) == [
      "up to 64 pixels", "129 to 256 pixels", "unknown"]


def test_groups_of_several_budgets_are_drawn_against_flops(tmp_path):
  for name, error, flops in (("cheap", 0.4, 10), ("paper", 0.1, 100)):
    nevis_runs.write(tmp_path / name / "indep", (error,) * 4, flops={"train": flops})
  domain, *_ = _load([tmp_path], ["groups"], FACTS)
  assert list(domain.chart.choices) == ["ocr", "object"]
  front, points = domain.chart.choices["object"].series
  assert (points.x, points.y, front.is_front) == ([10, 100], [40, 10], True)


def test_forward_transfer_of_repeated_tasks(panels):
  rows = {tuple(row[:2]): row[2:] for row in panels["forward_transfer"].rows}
  # Areas (0.2 + 0.6) / 2 = 0.4 and (0.2 + 0.9) / 2 = 0.55.
  assert rows["a@2", "ft_d"] == [2, pytest.approx(0.25), 0.0, None]
  assert rows["mean", "ft_d"] == [2, pytest.approx(0.25), 0.0, None]  # Not printed of FT-d.
  assert rows["a@2", "slow"] == [0, None, None, None]
  assert any(note.endswith("records: slow.") for note in panels["forward_transfer"].notes)


def test_printed_forward_transfer_stands_beside_the_mean(tmp_path):
  nevis_runs.write(tmp_path / "ft_prev", (0.4, 0.3, 0.2, 0.4), starts=("random", "a", "b", "a@2"))
  panel, = _load([tmp_path], ["forward_transfer"])
  rows = {row[0]: row[-1] for row in panel.rows}
  assert rows == {"a@2": None, "mean": 0.199} and any("5.13" in note for note in panel.notes)


def test_starts_name_hubs_and_domains(panels):
  rows = _rows(panels["starts_ft_d"])
  assert rows["c"] == ["ocr", 2020, "b", "object", 2, 0]
  assert rows["a"] == ["ocr", 2010, "random", "", 0, 2]
  notes = panels["starts_ft_d"].notes
  assert notes[0] == "Largest hubs: a (2), b (1). Longest chain: 2 models."
  assert notes[1] == "1 of 3 starts are of the task's domain."
  assert notes[2].endswith("all 2 seeds agree on 4 of 4 starts.")


def test_the_drawing_has_a_row_for_each_leaf():
  edges = [task_stream.Edge(None, "a"), task_stream.Edge("a", "b"),
           task_stream.Edge("a", "c"), task_stream.Edge("b", "d"),
           task_stream.Edge("net", "e")]
  assert transfer_panels.layout(edges) == {
      "d": (2, 0), "b": (1, 0), "c": (1, 1), "a": (0, 0.5), "e": (1, 2), "net": (0, 2)}


def test_a_chain_as_long_as_a_stream_can_be_laid_out():
  edges = [task_stream.Edge(str(i - 1) if i else None, str(i)) for i in range(2_000)]
  assert transfer_panels.layout(edges)["1999"] == (1999, 0)


def test_transfer_by_knn_and_by_training(panels):
  rows = _rows(panels["transfer_knn_ft_d"])  # best, candidates, lowest, mean, highest
  assert rows["c"] == ["a", 3, 0.2, pytest.approx(0.4), 0.6]
  assert panels["transfer_knn_ft_d"].arrays["knn_error"][1] == [None, None, 0.3, 0.6]
  trained = {tuple(row[:2]): row[2:] for row in panels["transfer_trained"].rows}
  assert trained == {
      ("a", "b"): [2, pytest.approx(0.35), 0.5, pytest.approx(0.15),
                   pytest.approx(0.1 / math.sqrt(2))],
      ("a", "a@2"): [2, pytest.approx(0.2), pytest.approx(0.4), pytest.approx(0.2),
                     pytest.approx(0.0)]}  # c came from b, which came from a.


def test_a_chain_has_no_matrix(tmp_path):
  nevis_runs.write(tmp_path / "indep", (0.1,) * 4)
  nevis_runs.write(tmp_path / "ft_prev", (0.1,) * 4, starts=("random", "a", "b", "a@2"))
  assert not _load([tmp_path], ["transfer", "starts"])


def test_errors_by_task_have_deviations(panels):
  panel = panels["tasks"]
  names = [column.name for column in panel.columns[4:]]
  place = 4 + names.index("ft_d")
  assert [row[place:place + 2] for row in panel.rows][1] == [
      pytest.approx(0.35), pytest.approx(0.1 / math.sqrt(2))]


def test_unknown_names_are_refused():
  with pytest.raises(ValueError, match="Unknown panel 'pie'; allowed are all, stream, tasks"):
    panel_list.build(None, ["pie"])


def test_facts_are_read_from_a_file(tmp_path):
  path = tmp_path / "facts.csv"
  path.write_text("task,domain,size,height,width\na,ocr,400,14,56\nb,,,,\n")
  assert stream_results.read_facts(path) == {"a": ("ocr", 400, 28.0), "b": ("unknown", None, None)}
  path.write_text("task,domain,size,height,width\na,ocr,many,28,28\n")
  with pytest.raises(ValueError, match="task 'a': size is 'many'; give a whole number, or nothing"):
    stream_results.read_facts(path)
  path.write_text("task,domain,size\na,ocr,400\n")
  with pytest.raises(ValueError, match="has no column height, width; a file of facts has"):
    stream_results.read_facts(path)


def test_facts_are_those_given_then_those_of_the_records_then_the_tables():
  tasks = [stream_results.TaskRow(key, key.partition("@")[0], 2000, "meta_train", "error", images)
           for key, images in (("mnist", None), ("mnist@2", 60_000), ("mine", 10), ("b", None))]
  mnist, again, mine, unknown = stream_results.facts_of(
      tasks, {"mine": stream_results.TaskFacts("ocr")})
  assert mnist == ("ocr", 51_000, 28.0) and again == ("ocr", 60_000, 28.0)
  assert mine == ("ocr", 10, None) and unknown == ("unknown", None, None)
