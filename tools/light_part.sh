#!/usr/bin/env bash
# Installs the part for lifelong evaluation (LIFELONG_PART=lifelong, setup.py) into a fresh environment, where there is no TensorFlow, and runs
# its commands there. Says how many MB it takes, at most 400.
#   tools/light_part.sh [FOLDER]     FOLDER is kept; without it a temporary folder is removed at the end
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

if [ $# -gt 0 ]; then
  mkdir -p "$1"
  folder="$(cd "$1" && pwd)"
else
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
fi
unset PYTHONPATH
rm -rf "$folder/source" "$folder/empty"
mkdir -p "$folder/source" "$folder/empty"
(cd "$ROOT" && cp -R setup.cfg setup.py pyproject.toml LICENSE README.md suite tfds_builders gin "$folder/source")
find_python
"$PYTHON" -m venv --clear "$folder/venv"
python="$folder/venv/bin/python"
LIFELONG_PART=lifelong "$python" -m pip install --quiet --disable-pip-version-check "$folder/source" >&2

cd "$folder/empty"
"$python" - <<'END'
import csv, importlib.util, pathlib, random
import numpy as np
assert importlib.util.find_spec("tensorflow") is None
random.seed(0)
hard = [random.random() for _ in range(60)]
answers = {f"m{m}": [int(random.random() * 1.2 + m / 12 > one + .4) for one in hard] for m in range(12)}
def write(name, models):
  with open(name, "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["model", "id", "correct"])
    writer.writerows([m, f"q{i}", value] for m in models for i, value in enumerate(answers[m]))
write("known.csv", list(answers)[:10])
write("new.csv", ["m11"])
END
suite="$folder/venv/bin/suite"
"$suite" lifelong add-models --cache cache known.csv >&2
"$suite" lifelong estimate --cache cache --answers new.csv --json >estimate.json
"$suite" lifelong rank --cache cache >ranking.txt
"$suite" lifelong subset --cache cache --size 20 --out subset.csv >&2
"$suite" lifelong add-samples --help >help.txt
"$suite" lifelong verify --cache cache >&2
"$suite" verify cache >&2
if "$suite" run quickstart 2>refused.txt; then exit 1; fi
grep -q "TensorFlow is not installed here" refused.txt
"$python" -m pip uninstall --quiet --yes pip setuptools >&2
size="$(du -sm "$folder/venv/lib" | cut -f1)"
echo "The part lifelong installs and runs without TensorFlow, in $size MB." >&2
[ "$size" -le 400 ]
