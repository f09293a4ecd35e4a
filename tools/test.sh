#!/usr/bin/env bash
# Runs the tests in the checkout's own environment; arguments go to pytest.
#   tools/test.sh                    all
#   tools/test.sh tests/cli_test.py -k report
#   tools/test.sh --quick [COMMIT]   the rules of the house and the tests of the modules that differ from COMMIT (HEAD), for 3 minutes at most
set -euo pipefail
here="$PWD"
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

venv_install "[dev]"
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-2}"
# Compiled tests are kept in __pycache__: each worker would compile 400 files in every run.
unset PYTHONDONTWRITEBYTECODE
if [ "${1:-}" = --quick ]; then
  cd "$ROOT"
  chosen=(tests/house_test.py tests/file_rules_test.py)
  while read -r path; do
    case "$path" in
      tests/*_test.py) test="$path" ;;
      suite/*.py | tools/*.py | tfds_builders/*.py) test="${path#suite/}"; test="tests/${test%.py}_test.py" ;;
      *) continue ;;
    esac
    if [ -e "$test" ]; then chosen+=("$test"); fi
  done < <({ git diff --name-only "${2:-HEAD}"; git ls-files --others --exclude-standard; } | sort -u)
  # SIGINT: pytest says what it has run by then.
  exec timeout --signal INT 180 "$VENV/bin/python" -m pytest -q "${chosen[@]}"
fi
# Paths among the arguments are meant from the caller's folder or from the checkout; without one, all tests run.
arguments=()
all=yes
for argument in "$@"; do
  case "$argument" in
    -*) ;;
    *)
      if [ -e "$ROOT/${argument%%::*}" ]; then
        all=no
      elif [ -e "$here/${argument%%::*}" ]; then
        all=no
        argument="$here/$argument"
      fi
      ;;
  esac
  arguments+=("$argument")
done
# All tests are divided among the cores in collection order, so that most files, whose tests share
# fixtures, stay with one worker; a worker that is done takes half of what another has left.
if [ "$all" = yes ]; then arguments=(-n auto --maxprocesses 8 --dist worksteal ${arguments[@]+"${arguments[@]}"}); fi
cd "$ROOT"
exec "$VENV/bin/python" -m pytest ${arguments[@]+"${arguments[@]}"}
