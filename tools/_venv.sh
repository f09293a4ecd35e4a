# Sourced by demo.sh and test.sh: makes the virtual environment once and installs this checkout into it.
#   LIFELONG_VENV    where the environment lies (.venv beside this checkout's setup.cfg when unset)
#   LIFELONG_PYTHON  the interpreter to make it with (searched for when unset)
# Defines ROOT (the checkout), VENV, and venv_install EXTRA (for example "[dev]", or "" for none).

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${LIFELONG_VENV:-$ROOT/.venv}"
case "$VENV" in /*) ;; *) VENV="$PWD/$VENV" ;; esac

# Prints "X.Y" if the interpreter $1 really starts: a pyenv shim may exist and only complain.
python_version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# Sets PYTHON to the first interpreter that starts, is 3.10 to 3.13 and can make an environment. Those up
# to 3.11 come first: they have all six packages (docs/dependencies.md).
find_python() {
  local candidate version found=""
  for candidate in ${LIFELONG_PYTHON:-python3.11 python3.10 python3.13 python3.12 python3}; do
    if ! command -v "$candidate" >/dev/null 2>&1; then
      found+=$'\n'"  $candidate: not found"
      continue
    fi
    version="$(python_version "$candidate")" || version=""
    case "$version" in
      3.10 | 3.11 | 3.12 | 3.13)
        if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
          PYTHON="$candidate"
          return 0
        fi
        found+=$'\n'"  $candidate: is $version, but has no venv module (on Debian: apt install python$version-venv)"
        ;;
      "") found+=$'\n'"  $candidate: exists but does not start ($(command -v "$candidate"))" ;;
      *) found+=$'\n'"  $candidate: is $version, outside 3.10 to 3.13" ;;
    esac
  done
  echo "No suitable Python. Needed: 3.10 to 3.13 with the venv module (TensorFlow has no wheel for others)." >&2
  echo "Tried:$found" >&2
  echo "Next step: install one of them, or name it: LIFELONG_PYTHON=/path/to/python3.13" >&2
  exit 2
}

# What an installation depends on: the packaging files, the extra, where the checkout lies, the line (setup.py).
venv_key() {
  { cat "$ROOT/setup.cfg" "$ROOT/setup.py" "$ROOT/pyproject.toml"; echo "$1 $ROOT${LIFELONG_TENSORFLOW:+ $LIFELONG_TENSORFLOW}"; } | cksum | tr ' ' '-'
}

venv_install() {
  local stamp="$VENV/.lifelong-suite" key
  key="$(venv_key "$1")"
  # An environment that has the dev extra has everything that the demo needs as well.
  if [ -x "$VENV/bin/python" ] && [ -f "$stamp" ] && grep -qxF -e "$key" -e "$(venv_key "[dev]")" "$stamp"; then
    return 0
  fi
  if [ -z "$(python_version "$VENV/bin/python")" ]; then
    find_python
    echo "Making $VENV with $PYTHON ($(python_version "$PYTHON"))" >&2
    "$PYTHON" -m venv --clear "$VENV"
  fi
  echo "Installing lifelong-suite$1 into $VENV (about 2 GB the first time, some minutes)" >&2
  rm -f "$stamp"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -e "$ROOT$1" >&2
  echo "$key" >"$stamp"  # Written last: a broken installation is tried again.
}
