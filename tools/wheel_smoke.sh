#!/usr/bin/env bash
# Builds the wheel, installs it with what it requires into a fresh environment, and runs it in an empty folder.
#   tools/wheel_smoke.sh [FOLDER]     FOLDER is kept; without it a temporary folder is removed at the end
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

if [ $# -gt 0 ]; then
  mkdir -p "$1"
  folder="$(cd "$1" && pwd)"
else
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
fi
unset PYTHONPATH  # The wheel is tested, not the checkout.

# A copy: a build in the checkout would leave build/ there, which leaks into later wheels.
rm -rf "$folder/source" "$folder/empty"
mkdir -p "$folder/source" "$folder/empty" "$folder/wheels"
(cd "$ROOT" && cp -R setup.cfg setup.py pyproject.toml LICENSE README.md suite tfds_builders gin "$folder/source")
find_python
"$PYTHON" -m venv --clear "$folder/venv"
python="$folder/venv/bin/python"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder/wheels" "$folder/source"
"$python" -m pip install --quiet --disable-pip-version-check "$folder"/wheels/lifelong_suite-*.whl

cd "$folder/empty"
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-2}"
"$python" -c "import suite, sys; sys.exit(not suite.__file__.startswith(sys.prefix) and suite.__file__)"
"$folder/venv/bin/suite" list --names >names
grep -qx quickstart names
"$folder/venv/bin/suite" run quickstart --gin_param STEPS=4 --gin_param VALIDATE_EVERY=4 --gin_param digits.nevis_stream.num_tasks=2 \
  >run.log 2>&1 || { cat run.log >&2; exit 1; }
"$folder/venv/bin/suite" verify runs/quickstart
"$folder/venv/bin/suite" report runs/quickstart --format html --out page.html
"$python" -c "import tfds_builders; assert 'nevis/mnist' in tfds_builders.names()"
test -s page.html
echo "The wheel $(basename "$folder"/wheels/lifelong_suite-*.whl) installs and runs." >&2
