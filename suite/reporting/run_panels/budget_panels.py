# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Panels of Sort & Search's experiments (`protocols.lifelong_figures`), and the paper's claims.

Curves are means over splits and seeds. The figures of the paper print hardly any number, and other
data have other levels, so what is compared are its statements of shape and order. "Better" means
a mean difference, split by split, of more than two standard errors; with one split, any.

The learners are known by name: sum, recursive_sum, confidence_sum, random, copy_nearest. Others
are further curves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.metrics import budget_curves
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting import run_streams

NAMES = {
    "claims": "what Sort & Search's paper states, and whether it holds here",
    "budgets": "error against the number of answers (figures 3, 4c, 4d)",
    "unseen": "the same on the samples that were not asked",
    "decay": "exponential fits, and what is saved",
    "sort_models": "error by number of sort models (figure 4b)",
    "new_samples": "error of new samples against the number of models asked (figure 4a)",
    "decomposition": "epistemic and aleatoric error (figure 5)",
    "correlations": "correlations of models' answers (figure 7)",
    "rankings": "rank correlation of estimated and true accuracies (figure 8)",
    "repeated": "repeated insertion of estimates (appendix F)",
}
TOLERANCE = 0.0025  # A curve is flat where it is within a quarter of a point of its end.
_CLAIMS = "lifelong_claims"
_QUANTILES = ("lowest", "1%", "25%", "median", "75%", "99%", "highest")


class _Learner(NamedTuple):
  """The records of one learner: of all its seeds."""

  name: str
  label: str
  records: Sequence[Mapping[str, Any]]

  def of(self, figure: str) -> list[Mapping[str, Any]]:
    return [record for record in self.records if record.get("figure") == figure]

  def counts(self) -> list[int]:
    """Numbers of sort models, the main one first."""
    return list(dict.fromkeys(record["sort_models"] for record in self.of("models")))

  def budgets(self) -> list[int]:
    return self.of("models")[0]["budgets"]

  def curve(self, measure: str, count: int | None = None) -> np.ndarray | None:
    """A measure by split and budget [S, B]; None if a record does not have it."""
    count = self.counts()[0] if count is None else count
    values = [record[measure] for record in self.of("models") if record["sort_models"] == count]
    if not values or None in values:
      return None
    return np.array(values, dtype=float)


class Results(NamedTuple):
  """All learners of a stream that have records."""

  learners: Mapping[str, _Learner]

  def curve(self, name: str, measure: str = "mae", count: int | None = None) -> np.ndarray | None:
    return self.learners[name].curve(measure, count) if name in self.learners else None

  def at(self, name: str, budget: int, measure: str = "mae", count: int | None = None
         ) -> np.ndarray | None:
    """A measure by split [S] at a budget; None where there is none."""
    curve = self.curve(name, measure, count)
    if curve is None or budget not in self.learners[name].budgets():
      return None
    return curve[:, self.learners[name].budgets().index(budget)]

  def any(self, figure: str) -> list[tuple[_Learner, Mapping[str, Any]]]:
    """The first record of a figure of each learner that has one."""
    return [(one, one.of(figure)[0]) for one in self.learners.values() if one.of(figure)]


def build(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panels of a stream; those without data are left out."""
  if descriptions.BUDGETS not in stream.description.panels:
    return []
  found = results(stream)
  if not found.learners:
    return []
  makers: Sequence[Callable[[Results], Iterable[_Made]]] = (
      _claims, _by_budget, _decay, _sort_models, _new_samples, _decomposition, _correlations,
      _rankings, _repeated)
  made = [one for make in makers for one in make(found)]
  return [panels.Panel(
      one.name, f"{stream.title}: {one.title}", one.columns, one.rows, [*one.notes, *stream.notes],
      chart=one.chart) for one in made]


def results(stream: run_streams.StreamRuns) -> Results:
  """Reads the records of all learners that have experiments of models."""
  found: dict[str, _Learner] = {}
  for learner in stream.learners:
    records = [record for run in learner.runs for record in run.records]
    one = _Learner(learner.runs[0].learner, learner.shown_label, records)
    if one.of("models"):
      found.setdefault(one.name, one)
  return Results(found)


class _Made(NamedTuple):
  """A panel without what all have."""

  name: str
  title: str
  columns: Sequence[panels.Column]
  rows: Sequence[Sequence[Any]]
  chart: panels.Plot | panels.Matrices | None = None
  notes: Sequence[str] = ()


def _by_budget(found: Results) -> Iterable[_Made]:
  """Figures 3 and 4c, 4d: every learner, on all samples and on those that were not asked."""
  for name, measure, title in (
      ("budgets", "mae", "mean absolute error against the number of answers"),
      ("unseen", "unseen", "mean absolute error on the samples that were not asked")):
    curves = {one.label: (one, one.curve(measure)) for one in found.learners.values()}
    notes = ["CopyNearest&Expand keeps the answers that it has asked; Sort & Search, as in the "
             "paper, does not."] if name == "budgets" else []
    yield _curves(name, title, "answers", "MAE", curves, notes)


def _curves(name: str, title: str, unit: str, y_label: str,
            curves: Mapping[str, tuple[_Learner, np.ndarray | None]], notes: Sequence[str] = (),
            scale: float = 100.0) -> _Made:
  """A table and a chart of one measure against the budget."""
  known = {label: (one, values) for label, (one, values) in curves.items() if values is not None}
  budgets = next(iter(known.values()))[0].budgets() if known else []
  kind = panels.PERCENT if scale == 100.0 else panels.NUMBER
  rows, series = [], []
  for label, (one, values) in known.items():
    at = dict(zip(one.budgets(), zip(_mean(values), _deviation(values))))
    rows.append([label, *(panels.plain(at[budget][0]) if budget in at else None
                          for budget in budgets)])
    series.append(panels.PlotSeries(
        label, list(at), [_scaled(mean, scale) for mean, _ in at.values()], (),
        [_scaled(deviation, scale) for _, deviation in at.values()]))
  return _Made(name, title, [panels.Column("learner"),
                             *(panels.Column(f"{budget:,}", kind) for budget in budgets)],
               rows, panels.Plot(f"Number of {unit}", y_label, series, log_x=True,
                                 y_unit="%" if scale == 100.0 else "", x_unit=unit),
               ["Means over splits; bars are deviations over them.", *notes])


def _decay(found: Results) -> Iterable[_Made]:
  """Fits of figures 3a and 3b; compute saved n / n' where the curve is flat."""
  rows = []
  for one in found.learners.values():
    curve, budgets = one.curve("mae"), one.budgets()
    if curve is None or len(budgets) < 4:
      continue
    fit = budget_curves.fit_decay(budgets, _mean(curve))
    flat = budget_curves.flattens_at(budgets, _mean(curve), TOLERANCE)
    num = one.of("models")[0]["num_samples"]
    saved = [record["saved"][budgets.index(flat)] for record in one.of("models")
             if "saved" in record and record["sort_models"] == one.counts()[0]]
    costs = [[record[name] for record in saved] for name in ("saved_flops", "saved_gpu_hours")]
    rows.append([one.label, fit.a, fit.b, fit.c, fit.explained, flat, round(num / flat),
                 *(float(np.mean(of_all)) if of_all and None not in of_all else None
                   for of_all in costs)])
  if rows:
    yield _Made("decay", "a exp(-b n') + c, and where the curve is flat", [
        panels.Column("learner"), panels.Column("a", panels.PERCENT),
        panels.Column("b", panels.NUMBER), panels.Column("c", panels.PERCENT),
        panels.Column("explained", panels.PERCENT), panels.Column("flat from n'", panels.COUNT),
        panels.Column("compute saved, n/n'", panels.COUNT),
        panels.Column("FLOPs saved", panels.FLOPS),
        panels.Column("GPU hours saved", panels.NUMBER)], rows, notes=[
            f"Flat: no larger budget is more than {100 * TOLERANCE:g} points better. FLOPs and GPU "
            "hours of the answers of the test models that are not asked then are unknown without "
            "lifelong_figures.run.costs."])


def _sort_models(found: Results) -> Iterable[_Made]:
  """Figure 4b."""
  curves = {f"{one.label}, {count}": (one, one.curve("mae", count))
            for one in found.learners.values() if one.name in ("sum", "copy_nearest")
            for count in sorted(one.counts())}
  if len(curves) > 1:
    yield _curves("sort_models", "mean absolute error by number of sort models", "answers", "MAE",
                  curves)


def _new_samples(found: Results) -> Iterable[_Made]:
  """Figure 4a."""
  lines = {one.label: np.array([record["mae"] for record in one.of("samples")], float)
           for one, record in found.any("samples") if record["mae"]}
  if not lines:
    return
  _, first = next((one, record) for one, record in found.any("samples") if record["mae"])
  budgets = first["budgets"]
  yield _Made(
      "new_samples", "mean absolute error of new samples against the number of models asked",
      [panels.Column("learner"), *(panels.Column(f"{budget:,}", panels.PERCENT)
                                   for budget in budgets)],
      [[label, *panels.plain_list(_mean(values))] for label, values in lines.items()],
      panels.Plot("Number of models asked", "MAE", [panels.PlotSeries(
          label, budgets, [_scaled(v) for v in _mean(values)], (),
          [_scaled(v) for v in _deviation(values)]) for label, values in lines.items()],
                  log_x=True, y_unit="%", x_unit="models"),
      [f"{first['known_samples']:,} samples are known, {first['new_samples']:,} of the others are "
       f"estimated in each split, by {first['num_models']} models. The best constant answer of "
       f"each sample has {100 * first['constant']:.2f}%. Estimators without one order are left "
       "out."])


def _decomposition(found: Results) -> Iterable[_Made]:
  """Figure 5, against the order from the sort models (equations 3 and 4)."""
  curves = {f"{one.label}, epistemic": (one, one.curve("epistemic"))
            for one in found.learners.values()}
  flat = {}
  for one in found.learners.values():
    aleatoric = one.curve("aleatoric")
    if aleatoric is not None:
      flat[f"{one.label}, aleatoric"] = (one, np.repeat(
          aleatoric[:, None], len(one.budgets()), axis=1))
  curves = {label: pair for label, pair in curves.items() if pair[1] is not None}
  if curves:
    yield _curves("decomposition", "epistemic and aleatoric error", "answers", "Error",
                  {**curves, **flat},
                  ["Aleatoric: the error of the best cut of the sort models' order, all answers "
                   "known. Epistemic: the distance of the estimate from that cut."])


def _correlations(found: Results) -> Iterable[_Made]:
  """Figure 7, once: it does not depend on the learner."""
  every = [record for _, record in found.any("correlations") if record.get("quantiles")]
  if not every:
    return
  record = every[0]
  names = [f"{100 * share:.1f}" for share in record["group_accuracies"]]
  yield _Made(
      "correlations", "correlations of models' answers",
      [panels.Column("models", panels.COUNT), panels.Column("pairs", panels.COUNT),
       panels.Column("negative", panels.COUNT),
       *(panels.Column(name, panels.NUMBER) for name in _QUANTILES)],
      [[record["correlated_models"], record["pairs"], record["negative_pairs"],
        *record["quantiles"]]],
      panels.Matrices({"all": record["group_correlations"]}, {"all": names}, {"all": names},
                      "Accuracy, %", "Accuracy, %", "Mean correlation", is_diverging=True),
      ["Spearman's correlation, which is Pearson's for two values. The figure has means over "
       "groups of models of similar accuracy, the most accurate first."])


def _rankings(found: Results) -> Iterable[_Made]:
  """Figure 8."""
  curves = {}
  for one in found.learners.values():
    curves[one.label] = (one, one.curve("rank_correlation"))
    if one.curve("aleatoric") is not None:
      curves[f"{one.label}, by the cut"] = (one, one.curve("rank_correlation_by_cut"))
  yield _curves("rankings", "Spearman's correlation of estimated and true accuracies", "answers",
                "Correlation", curves,
                ["By the mean of the answers that were asked; by the cut: by the number of samples "
                 "that are predicted to be solved, as in the paper."], scale=1.0)


def _repeated(found: Results) -> Iterable[_Made]:
  """Appendix F."""
  rows, series = [], []
  for one, record in found.any("repeated"):
    num = len(record["alone"])
    gap = np.array(record["in_turn"]) - np.array(record["alone"])
    last = gap[-max(1, num // 4):]
    rows.append([one.label, record["budget"], num, record["same_estimates"],
                 record["order_changes"], float(np.mean(record["alone"])),
                 float(np.mean(record["in_turn"])), float(np.mean(last))])
    series.append(panels.PlotSeries(one.label, list(range(1, num + 1)), [
        _scaled(v) for v in np.cumsum(gap) / np.arange(1, num + 1)]))
  yield _Made(
      "repeated", "estimates that are taken for observations of later ones",
      [panels.Column("learner"), panels.Column("answers", panels.COUNT),
       panels.Column("models", panels.COUNT), panels.Column("same estimates", panels.COUNT),
       panels.Column("changed orders", panels.COUNT), panels.Column("MAE, alone", panels.PERCENT),
       panels.Column("MAE, in turn", panels.PERCENT),
       panels.Column("difference, last quarter", panels.PERCENT)], rows,
      panels.Plot("Models inserted", "Mean difference of the MAE", series, y_unit="%"),
      ["The split is the first one. With random samples the two estimates have other answers."])


def _claims(found: Results) -> Iterable[_Made]:
  """The paper's statements beside what was found."""
  notes, lines = paper_values.table(_CLAIMS)
  rows = []
  for line in lines:
    try:
      text, holds = _CHECKS[line["key"]](_Known(found))
    except _NotRunError:
      text, holds = "not run", None
    rows.append([line["figure"] or "-", line["section"], line["claim"], line["printed"], text,
                 {True: "yes", False: "no", None: "-"}[holds]])
  yield _Made(
      "claims", "claims of the paper", list(map(panels.Column, (
          "figure", "section", "claim", "paper", "here", "holds here"))), rows,
      notes=[*notes, "Better: by more than two standard errors over splits. Flat: no larger budget "
             f"is more than {100 * TOLERANCE:g} points better."])


Found = tuple[str, bool | None]


class _NotRunError(Exception):
  """A claim is about what no record has."""


class _Known:
  """The curves of results; a check ends where there is none."""

  def __init__(self, found: Results):
    self.found = found

  def learner(self, name: str) -> _Learner:
    return _there(self.found.learners.get(name))

  def curve(self, name: str, measure: str = "mae", count: int | None = None) -> np.ndarray:
    return _there(self.found.curve(name, measure, count))

  def at(self, name: str, budget: int, measure: str = "mae", count: int | None = None
         ) -> np.ndarray:
    return _there(self.found.at(name, budget, measure, count))

  def budgets(self, name: str = "sum") -> list[int]:
    return self.learner(name).budgets()

  def records(self, key: str) -> list[Mapping[str, Any]]:
    """The records of "sum" with the main number of sort models that have a value."""
    one = self.learner("sum")
    found = [record for record in one.of("models")
             if record["sort_models"] == one.counts()[0] and record.get(key) is not None]
    return _there(found or None)

  def flat(self, name: str, measure: str = "mae", count: int | None = None) -> int:
    curve = self.curve(name, measure, count)
    if np.isnan(curve).any():
      raise _NotRunError
    return budget_curves.flattens_at(self.budgets(name), _mean(curve), TOLERANCE)

  def samples(self, name: str) -> tuple[list[int], list[float]]:
    """Budgets and mean errors of figure 4a."""
    one, record = _there(next(((one, record) for one, record in self.found.any("samples")
                               if record["mae"] and one.name == name), None))
    return record["budgets"], _mean(np.array(
        [other["mae"] for other in one.of("samples")], float)).tolist()

  def repeated(self) -> Mapping[str, Any]:
    return _there(next((record for one, record in self.found.any("repeated")
                        if one.name == "sum"), None))


def _there(value: Any) -> Any:
  if value is None:
    raise _NotRunError
  return value


def _level(found: _Known) -> Found:
  return f"{found.at('sum', 128).mean():.3f} at 128", None


def _constant(found: _Known) -> Found:
  value = found.at("sum", 128)
  constant = np.array([record["constant"] for record in found.records("constant")])
  return f"{value.mean():.3f} at 128 against {constant.mean():.3f}", _better(value, constant)


def _oracle(found: _Known) -> Found:
  error, constant = (float(np.mean([record[name] for record in found.records("oracle")]))
                     for name in ("oracle", "constant"))
  return f"{error:.3f}; 2 min(a, 1 - a), the most, is {2 * constant:.3f}", 0.4 <= error <= 0.5


def _storage(found: _Known) -> Found:
  one = found.records("array_bytes")[0]
  each, share = one["array_bytes"] / one["num_samples"], one["array_bytes"] / (
      one["num_samples"] * one["sort_models"])
  return (f"{each:g} bytes a sample, {one['array_bytes'] / 1e6:.2f} MB: {share:.1%} of the answers "
          f"of {one['sort_models']} sort models at a byte each", one["array_bytes"] < 100e6)


def _exponential(found: _Known) -> Found:
  if len(found.budgets()) < 4:
    raise _NotRunError
  fit = budget_curves.fit_decay(found.budgets(), _mean(found.curve("sum")))
  return f"b = {fit.b:.3f}, explains {fit.explained:.1%} of the variance", fit.explained >= 0.95


def _saving(found: _Known) -> Found:
  flat, num = found.flat("sum"), found.learner("sum").of("models")[0]["num_samples"]
  return f"flat from {flat:,}, n/n' = {num / flat:.0f}", flat <= 2048


def _copy_accuracy(found: _Known) -> Found:
  texts, holds = [], []
  for measure, where in (("mae", "on all samples"), ("unseen", "on those not asked")):
    own, other = (found.at(name, 8192, measure) for name in ("sum", "copy_nearest"))
    texts.append(f"{100 * (other - own).mean():+.2f} points {where}")
    holds.append(_better(own, other))
  return ", ".join(texts), all(holds)


def _copy_speed(found: _Known) -> Found:
  own, other = (found.flat(name, "unseen") for name in ("sum", "copy_nearest"))
  return f"{own:,} against {other:,}, on samples not asked", own < other


def _samples_level(found: _Known) -> Found:
  budgets, values = found.samples("sum")
  return f"{_there(dict(zip(budgets, values)).get(64)):.3f}", None


def _samples_sorts(found: _Known) -> Found:
  flat = [budget_curves.flattens_at(*found.samples(name), 2 * TOLERANCE)
          for name in ("sum", "confidence_sum")]
  return f"within half a point of their ends from m' = {flat[0]} and {flat[1]}", max(flat) <= 64


def _more_models(found: _Known) -> Found:
  few, many = found.curve("sum", count=10)[:, -1], found.curve("sum")[:, -1]
  return f"{100 * (few - many).mean():.2f} points at the largest budget", _better(many, few)


def _models_speed(found: _Known) -> Found:
  counts = sorted(found.learner("sum").counts())
  if len(counts) < 2:
    raise _NotRunError
  flat = [found.flat("sum", count=count) for count in counts]
  return "flat from " + ", ".join(f"{value:,}" for value in flat), max(flat) <= 2 * min(flat)


def _few_models(found: _Known) -> Found:
  own, other = found.at("sum", 512, count=10), found.at("copy_nearest", 512)
  return f"{own.mean():.4f} against {other.mean():.4f}", _better(own, other)


def _confidence(found: _Known) -> Found:
  own, other = found.curve("sum")[:, -1], found.curve("confidence_sum")[:, -1]
  return f"{100 * (other - own).mean():+.2f} points at the largest budget", _better(own, other)


def _recursive(found: _Known) -> Found:
  own, other = found.curve("recursive_sum"), found.curve("sum")
  large = [place for place, budget in enumerate(found.budgets()) if budget > 1024]
  gains = [100 * (other - own)[:, place].mean() for place in large]
  return (f"{min(gains):+.2f} to {max(gains):+.2f} points" if gains else "no such budget",
          all(_better(own[:, place], other[:, place]) for place in large) if large else None)


def _uniform_small(found: _Known) -> Found:
  own, other = found.at("sum", 8), found.at("random", 8)
  return f"{100 * (other - own).mean():+.2f} points", _better(own, other)


def _uniform_large(found: _Known) -> Found:
  gap = float((found.curve("random") - found.curve("sum"))[:, -1].mean())
  return f"{100 * gap:+.2f} points at the largest budget", abs(gap) <= TOLERANCE


def _epistemic(found: _Known) -> Found:
  budgets, mean = found.budgets(), _mean(found.curve("sum", "epistemic"))
  text = ", ".join(f"{mean[budgets.index(budget)]:.3f} at {budget:,}"
                   for budget in (128, 1024, budgets[-1]) if budget in budgets)
  place = _there(max((i for i, budget in enumerate(budgets) if budget <= 1024), default=None))
  above = float(_mean(found.curve("sum"))[place] - found.curve("sum", "aleatoric").mean())
  return (f"{text}; at {budgets[place]:,} it costs {100 * above:.2f} points of error",
          bool(mean[place] < 0.01))


def _aleatoric(found: _Known) -> Found:
  share = float(found.curve("sum", "aleatoric").mean() / found.at("sum", 1024).mean())
  return f"{share:.1%} of the error at 1,024", share >= 0.95


def _positive(found: _Known) -> Found:
  one = _there(next((record for _, record in found.found.any("correlations")
                     if record.get("quantiles")), None))
  return (f"{one['negative_pairs']:,} of {one['pairs']:,} negative, lowest "
          f"{one['quantiles'][0]:.2f}", one["negative_pairs"] == 0)


def _ranking(found: _Known) -> Found:
  mean, cut = (_mean(found.curve("sum", name))
               for name in ("rank_correlation", "rank_correlation_by_cut"))
  budgets = found.budgets()
  return (f"{cut[0]:.2f} at {budgets[0]} to {cut[-1]:.2f} at {budgets[-1]:,} by the "
          f"cut, {mean[0]:.2f} to {mean[-1]:.2f} by the mean of the answers",
          bool(cut.min() >= 0.5))


def _same_order(found: _Known) -> Found:
  record = found.repeated()
  changes = _there(record["order_changes"])
  return f"{changes} of {len(record['alone'])} orders differ", changes == 0


def _no_drift(found: _Known) -> Found:
  record = found.repeated()
  gap = np.abs(np.array(record["in_turn"]) - np.array(record["alone"])).max()
  return f"largest difference {100 * gap:.2f} points", bool(gap <= TOLERANCE)


_CHECKS: Mapping[str, Callable[[_Known], Found]] = {
    "level": _level, "constant": _constant, "oracle": _oracle, "decay": _exponential,
    "saving": _saving, "storage": _storage, "copy_accuracy": _copy_accuracy,
    "copy_speed": _copy_speed, "samples_level": _samples_level, "samples_sorts": _samples_sorts,
    "more_models": _more_models, "models_speed": _models_speed, "few_models": _few_models,
    "confidence": _confidence, "recursive": _recursive, "uniform_small": _uniform_small,
    "uniform_large": _uniform_large, "epistemic": _epistemic, "aleatoric": _aleatoric,
    "positive": _positive, "ranking": _ranking, "same_order": _same_order,
    "no_drift": _no_drift}


def _better(own: np.ndarray, other: np.ndarray) -> bool:
  """Whether errors by split [S] are lower than the others', split by split."""
  gains = np.asarray(other, float) - np.asarray(own, float)
  error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
  return bool(gains.mean() > 2.0 * error and gains.mean() > 0.0)


def _mean(values: np.ndarray) -> np.ndarray:
  return np.asarray(values, float).mean(axis=0)


def _deviation(values: np.ndarray) -> np.ndarray:
  values = np.asarray(values, float)
  return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def _scaled(value: float, scale: float = 100.0) -> float | None:
  known = panels.plain(value)
  return None if known is None else scale * known
