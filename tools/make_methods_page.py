# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/methods.md, and README.md's table, from suite/configs/methods.csv: what runs where.

    python tools/make_methods_page.py             writes both
    python tools/make_methods_page.py --check     fails if one of them is out of date
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
import pathlib
import re
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page
import result_pages

from suite.configs import method_values
from suite.configs import methods

_ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = _ROOT / "docs" / "methods.md"
README = _ROOT / "README.md"
PARITY = _ROOT / "docs" / "parity.md"
_MARKS = ("<!-- matrix -->\n", "<!-- end of matrix -->\n")

_HEAD = """# Methods

<!-- Made by `tools/make_methods_page.py` from `suite/configs/methods.csv`; do not edit. -->

{num_methods} methods. NEVIS, CLEAR and FLUID have {cells} cells (without methods for episodes
alone): {running} of them can run, {percent:.0f}%. {on_cfsl} methods run on CFSL.
`tests/contracts/method_matrix_test.py` runs each method under at least one protocol, on the
embedded digits: it learns above chance and has known FLOPs and MACs. One method of each kind of
state is stopped under each protocol, and resumes bit for bit. The test also checks that a cell that
is not run shares all components with one that is. What a protocol does not serve is
refused by a message before anything is trained.
[parity.md](parity.md#every-method) says of every method whether public code gives the same answers.

A row begins with the name that `suite run --methods` and `suite.learner` take, then its aliases;
case and punctuation do not matter (`DER++`, `A-GEM`).

*Numbers* are the pages with a score of the method, on which it names a row or a column; a method
that runs and has none there has "no number" beside its tick.

What a method is made of is one
macro, in a file of `gin/learners`, which a run file includes with its protocol's parts
(`gin/learners/nevis.gin`, `clear.gin`, `fluid.gin` or `cfsl.gin`);
[extending.md](extending.md) shows how to add a method.

**Values** stand in one place, `suite/configs/method_values.csv`, each with its source: the paper of
the protocol first, then the method's paper, then the authors' code, then ours with a reason
({ours} of {values} values of methods). Where a protocol's paper or code has another value, the
table has a row for it. `suite show METHOD` prints values, sources and what each protocol changes. A
run file may set others, which `suite show RUN` shows; epochs, batches, rates and memories are the
run's. A label of a run file that is a method's name is that method
(`tests/configs/labels_test.py`); reports and leaderboards print beside it what differs from the
table, whether the run file or the user set it: `er (memory_size=200)`.
`--settings cpu` takes smaller values for runs on a CPU: {cpu}.
"""
_NEVIS = """
## More baselines of NEVIS'22

They are `Finetune`, too (`suite/learners/finetune.py`), and need what only NEVIS delivers, the data
of earlier tasks, or the run of a pretraining; so they are not in the table.

| method | paper | gin file and macro | run file |
| --- | --- | --- | --- |
| MT: multitask training with the task that it starts from | section 5.4 | \
[nevis_baselines](../gin/learners/nevis_baselines.gin) `MT` | nevis/mt, digits/nevis_mt |
| MT with the three nearest tasks | figure 23, `ft_dknn+top3` | `MT_TOP3` | |
| MT from the previous task, with all earlier ones, or one drawn in each step | figure 23, \
`ft_prev+all`, `ft_prev+random` | `MT_PREV_ALL`, `MT_PREV_RANDOM` | |
| MT from random weights, with all earlier ones, or one drawn in each step | figure 23, `ind+all`, \
`ind+random` | `MT_IND_ALL`, `MT_IND_RANDOM` | |
| PT: every task from one pretrained model | section 5.4 | \
[nevis_baselines](../gin/learners/nevis_baselines.gin) `PT` | nevis/pt, digits/nevis_pt |
| PT+FT-d: the pretrained model is one of the candidates | section 5.4 | `PT_FT_D` | |
| PT-ISup: the encoder is trained on ImageNet with its labels | appendix E.2 | | \
nevis/pretrain_imagenet |
| PT-MT: the encoder is trained on all meta-train tasks | appendix E.2 | | nevis/pretrain_mt, \
digits/nevis_pretrain |
| PT-ext: the encoder is trained elsewhere | section 5.4 | see nevis_baselines | |
| FT-s on the models of an Indep run | section 5.4 | `FT_S` with \
`ft_s/finetune.Finetune.static = 'indep'` | |

- **Choices that the paper leaves open.** Lambda is drawn from 0.1 to 1 on a log scale \
(`AUXILIARY_WEIGHT` in `gin/budgets/`); the losses of several auxiliary batches are \
summed. The head of an auxiliary task begins with the weights it was stored with where the \
backbone is that of the same model, else at random. PT-MT takes batches of 8 groups, each of one \
task, drawn in proportion to its number of images; norms see the whole batch.
- **Data of earlier tasks** comes from a cache of `Multitask.max_bytes`, 2 GiB by default; its \
contract is at the top of `suite/training/multitask/data_cache.py`. Nothing of it is on disk: a \
resumed run reads the same images again.
- **Costs.** Auxiliary batches belong to the phase of the training (`train`, `search`). A run \
from an encoder charges what `encoder.json` says to the phase `pretrain` in its first event, so \
`cflop` is the cost with pretraining, and without `flops_pretrain` that without. Where the cost \
of an encoder is not known, both `flops_pretrain` and `cflop` are null. FT-s on the models of an \
Indep run does not charge their training, which that run has; records say `independent_models`.
- **PT-ext.** The paper's NFNet-F0, trained by CLIP on ALIGN and LTIP, is not public. Any Keras \
model stands in: as `Finetune(model, start=starts.Pretrained())` in Python, or a Keras \
application whose published weights were fetched by hand (see the gin file). Its errors are not \
comparable with the paper's PT-ext.
"""
_CLEAR = """
## On CLEAR

`gin/learners/clear.gin` has the rows of the paper's table as `ROWS` and further methods as
`MORE_ROWS`; `digits/clear_methods` runs them.

- **References.** `JOINT` is trained from new weights on all buckets so far, `CUMULATIVE` goes
on from the last weights, and `EACH_BUCKET` is trained from new weights on each bucket alone.
- **Online mode.** `--gin_file gin/budgets/online.gin` makes one pass over
each bucket in batches of 10 at one rate; `digits/clear_online` is a run of it.
- **EWC** estimates its Fisher information over the model's own labels, exactly (`EWC_FISHER =
'all'`, a backward pass for each class) or by a drawn label (`'sample'`, as on NEVIS'22). The true
labels (`'true'`), those weighted as Mammoth does (`'mammoth'`) and mini-batches as Avalanche has
them (`'avalanche'`, as in CLEAR's table) are options.
- **LwF.** On CLEAR `LWF` has the paper's strengths, from 0 to 2 over `NUM_BUCKETS`.
`LWF_GROWING` adds 2 / 9 for each phase, the same over ten buckets, and needs no number of them;
it runs on FLUID, too.
- **GEM** keeps the newest rows of each past bucket and looks at all of them in each step: its
cost grows with the memory, and it holds a gradient for each bucket. The quadratic program in as
many numbers as buckets is solved by SciPy and is not counted in FLOPs.
- **When memories take rows in.** Methods that replay do so in each step, with the logits of that
moment (DER), so that a bucket replays its own rows, too: `REMEMBER = 'each_step'`, as in their
papers. With `'each_phase'` a memory takes the bucket in at its end; so does `ER` here
(`ER_REMEMBER`), as the row of CLEAR's table, and so do GEM and A-GEM, in their papers as well, and
every method in the offline phases of FLUID.
- **GSS** is the greedy version. In each step its memory makes the gradient of each
new example and of 10 held ones for every 10 examples (`Gss.subset`, `Gss.block`), which is
charged; the products of these gradients are not.
- **MER** makes an update on each single row, incoming and replayed: many small steps. Batch
norms then normalize single images; take a net without them, or features. On several devices the
first makes all updates.
"""
_TRANSFORMERS = """
## On a frozen transformer

`gin/learners/transformers.gin` has methods that leave a vision transformer (`suite/models/vit.py`)
as it is and train something in it: `suite/models/vit_hooks.py` and `vit_prompts.py` have the layers
and the formulas, `HookedVit`
(`suite/training/gradient/hooked_vit.py`) puts them into the gradient learner. A run file sets
`BACKBONE = @vit.vit` and `WEIGHTS`, an .npz of a pretrained net; any other net is refused by its
name before anything is trained. From random weights they show how they work, not how
well: no published number was reproduced with them, since no pretrained transformer is shipped.

| method | trained in the net | loss | after a task |
| --- | --- | --- | --- |
| `lora` | low-rank changes of queries and values | cross-entropy | |
| `aper_adapter` | adapters beside the MLPs, in the first task alone | cross-entropy | class means \
of the frozen and the adapted net's features |
| `l2p` | prompts before the tokens, and keys | classes of the task; cosines of chosen keys | |
| `dual_prompt` | prefixes of all tasks and of the task, its key | the same | its prefix and key \
stay |
| `coda_prompt` | components of prefixes, keys, attention | classes of the task; orthogonality | \
its components stay |
| `ease` | new adapters for each task | classes of the task | class means in all subspaces; \
those of old classes in the new one are made from similar classes |
| `inf_lora` | low-rank changes of keys and values in given directions | classes of the task | \
added to the weights; their directions stay free of later changes |

- The run sets **epochs, batches, rates** and optimizers.
- **Tasks are phases.** A learner is not told their number, so pools have a fixed size (`DUAL_SIZE`,
`CODA_PHASES`, `EASE_SUBSPACES`): later phases reuse the last part; EASE trains nothing in them.
Where classes come again (CLEAR), all classes of the bucket take part in the loss, and EASE has the
class means of the latest bucket.
- **FLOPs.** Frozen weights get no gradients and are charged none; what flows through them to
something trained below is. The query of L2P, DualPrompt and CODA-Prompt is a second forward pass,
that of APER and EASE one for each adapted net: all are charged, in training and in answers.
- **Differences from the codes.** Prefixes are put before the key and value projections, as the
papers write it; an image chooses its prompts by itself, never a batch for all of it. CODA-Prompt's
components of later tasks are not made orthogonal to earlier ones at their start.
"""
_CLIP = """
## CLIP as it is

`gin/learners/clip.gin` has the two baselines of class-incremental learning with CLIP that train
nothing: `clip_zero_shot`, cosines with texts that name the classes
(`suite/learners/zero_shot.py`), and `clip_prototypes`, cosines with class means of the image
tower's features. `CLIP_FOLDER` is a folder with `model.safetensors`, `config.json` and the
vocabulary, `merges.txt` or `bpe_simple_vocab_16e6.txt.gz`, as at Hugging Face or from OpenAI
(`suite/models/clip/weight_files.py`); nothing is downloaded, and no published number was
reproduced. Names come from the data (`class_names`), or from `CLASS_NAMES` in the order of the
labels; without them `clip_zero_shot` is refused before its first task. `TRANSFORM` makes images of
the tower's size. Texts are charged when their classes come, one pass of the text tower each.
"""
_REASONS = """
## Why a method does not run

NEVIS's tasks have separate classes, and a gradient learner has a head for each of them
(`PerTask`). Memories, joint training and LwF need one list of classes in all phases; CWR\\* and the
split head have one head. Within CFSL's episodes a gradient learner tunes a linear head on features
that never change, `FINETUNE` too; of the objectives cross-entropy, EWC and LwF have the functional
form that this takes, and of the memories the one of the latest rows.
"""
_DEVICES = """
## Several devices of one machine

With `--strategy mirrored` every method of the table runs. Records equal one device's up to
rounding, but for batch norms, which normalize the share of each device by itself; most methods on
CLEAR, FLUID and CFSL were compared (not SCA and Pretrain + Tune, and of NEVIS fine-tuning, by hand
MT, with group norms).
MAML++ high-end drifts away from one device within some updates, and ConstellationNet on CFSL gives
some other answers after 15 updates; the causes were not examined.
`tests/devices_test.py` compares a part of them.

| methods | training on several devices |
| --- | --- |
| NEVIS's baselines (`Finetune`) | shared: each device has a part of every batch |
| compositions of the gradient learner, imprinting, exemplar tuning and OLTR, on NEVIS, CLEAR and \
FLUID | shared: each device has a part of the incoming and of the replayed rows; `batch_size` and \
`replay_batch` are multiples of the number of devices |
| MAML, SCA, prototypical networks, Meta-Baseline, ConstellationNet, Simple CNAPS and Pretrain + \
Tune on CFSL | \
shared: each device has a part of the episodes of an update |
| tuning and ridge regression within episodes on CFSL; nearest class means, LDA, Mahalanobis \
distances, thresholds | none: there are no gradient steps between episodes, or none at all; the \
first device learns |
| meta-training on NEVIS, CLEAR and FLUID (prototypical networks, Meta-Baseline, ConstellationNet, \
Simple CNAPS, MAML) | the first device: an update has one episode |

`tests/devices_test.py` and `tests/distribution_test.py` compare records,
`tests/training/gradient/device_shares_test.py` every objective.
"""
_LINKS = 3  # Pages that a row names.
_SHOWN = {"nevis": "NEVIS", "clear": "CLEAR", "fluid": "FLUID", "cfsl": "CFSL"}


def page() -> str:
  """Renders the page in Markdown."""
  every = methods.load()
  running, cells = methods.filled(every)
  on_cfsl = sum("cfsl" in method.protocols for method in every)
  values = [row for row in method_values.load() if row.method and not row.settings]
  cpu = ", ".join(f"{row.setting}={row.text} of {row.method}" for row in method_values.load()
                  if row.settings == "cpu" and row.method)
  head = _HEAD.format(num_methods=len(every), cells=cells, running=running,
                      percent=100 * running / cells, on_cfsl=on_cfsl, values=len(values),
                      ours=sum(bool(row.reason) for row in values), cpu=cpu)
  return "\n".join([head, _matrix(every), _NEVIS, _CLEAR, _TRANSFORMERS, _CLIP,
                    _REASONS, _refusals(every), _DEVICES])


def _matrix(every: Iterable[methods.Method]) -> str:
  numbers = result_pages.numbers()
  lines = [_row(["name", "method", "paper", "gin file and macro", *_SHOWN.values(), "numbers"]),
           _row([*["---"] * 4, *[":-:"] * len(_SHOWN), "---"])]
  for method in every:
    where = f"[{method.file}](../gin/learners/{method.file}.gin) `{method.macro}`"
    found = numbers.get(method.name, [])
    tick = "✓" if found else "✓ no number"
    runs = [tick if name in method.protocols else "-" for name in _SHOWN]
    names = ", ".join(f"`{name}`" for name in (method.name, *method.aliases))
    links = [f"[{page.removeprefix('results/').removesuffix('.md')}]({page})" for page in found]
    more = f" and {len(links) - _LINKS} more" if len(links) > _LINKS else ""
    lines.append(_row([names, _escaped(method.title), method.paper or "-", where, *runs,
                       ", ".join(links[:_LINKS]) + more or "-"]))
  return "\n".join(lines) + "\n"


def summary(every: Iterable[methods.Method]) -> str:
  """README's table: a row for the methods that run under the same protocols."""
  rows: dict[tuple[bool, ...], list[str]] = {}
  for method in every:
    runs = tuple(name in method.protocols for name in _SHOWN)
    rows.setdefault(runs, []).append(f"`{method.name}`")
  lines = [_row([*_SHOWN.values(), "methods"]), _row([":-:"] * len(_SHOWN) + ["---"])]
  for runs, names in sorted(rows.items(), key=lambda row: -sum(row[0])):
    lines.append(_row([*("✓" if one else "" for one in runs), " ".join(names)]))
  return "\n".join(lines) + "\n" + _verified()


def _verified() -> str:
  """How many methods give the same results as public code: the sentence of docs/parity.md."""
  text = PARITY.read_text(encoding="utf-8")
  found = re.search(r"^Of (\d+) methods: (\d+) equal, ([^.]*)\.", text, re.MULTILINE)
  assert found, f"{PARITY} does not count the methods: run python tools/make_parity_page.py"
  return (f"\n**Verified:** {found[2]} of {found[1]} methods give the same results as public code, "
          f"the authors' or a library's ([each method](docs/parity.md#every-method)); {found[3]}. "
          "[Papers, settings and aliases](docs/methods.md).\n")


def readme(text: str) -> str:
  """README.md with the table of now between its marks."""
  before, rest = text.split(_MARKS[0])
  return _MARKS[0].join([before, summary(methods.load()) + _MARKS[1] + rest.split(_MARKS[1])[1]])


def _refusals(every: Iterable[methods.Method]) -> str:
  """The messages, each with the protocols and methods that it is of."""
  found: dict[str, dict[str, list[str]]] = {}
  for method in every:
    for name, refusal in method.refusals.items():
      found.setdefault(refusal, {}).setdefault(_SHOWN[name], []).append(method.title)
  lines = [_row(["message", "where", "methods"]), _row(["---"] * 3)]
  for message, where in found.items():
    for protocol, titles in where.items():
      lines.append(_row([f"... {message} ...", protocol, _escaped("; ".join(titles))]))
  return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
  return text.replace("*", "\\*")


def _row(cells: Sequence[str]) -> str:
  return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  args = parser.parse_args(arguments)
  stale = "stale. Run: python tools/make_methods_page.py"
  text = readme(README.read_text(encoding="utf-8"))
  return (made_page.finish(PAGE, page(), args.check, stale)
          or made_page.finish(README, text, args.check, stale))


if __name__ == "__main__":
  sys.exit(main())
