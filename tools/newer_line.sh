#!/usr/bin/env bash
# Tests what only the newer line of dependencies has, Keras 3 beside tf-keras, in an environment of its own (.venv-newer), on the
# newest Python that there is; on 3.10 and 3.11 by LIFELONG_TENSORFLOW=newer. In at most LIFELONG_NEWER_SECONDS for the tests.
#   tools/newer_line.sh
set -euo pipefail
export LIFELONG_VENV="${LIFELONG_NEWER_VENV:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.venv-newer}"
export LIFELONG_PYTHON="${LIFELONG_NEWER_PYTHON:-python3.13 python3.12 python3.11 python3.10}" LIFELONG_TENSORFLOW=newer
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"
cd "$ROOT"
seconds="${LIFELONG_NEWER_SECONDS:-180}"
# One of each kind; all of both files take three times as long.
chosen="on_buckets or maml or (finite and (group or layer)) or draws or norm or AdamW or Rotation or noise or refused or losses"

venv_install ""
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "pytest>=7.4" >&2
unset PYTHONPATH
status=0
TF_CPP_MIN_LOG_LEVEL=3 timeout "$seconds" "$VENV/bin/python" -m pytest -q -x -p no:cacheprovider \
  tests/running/keras3_runs_test.py tests/models/keras3_test.py -k "$chosen" || status=$?
case "$status" in
  0) ;;
  124) echo "The tests of Keras 3 on the newer line took over $seconds s. Give LIFELONG_NEWER_SECONDS, or look at what hangs." >&2 ;;
  5) echo "The newer line has run no test: is Keras 3 missing in $VENV? Remove that folder and run this again." >&2 ;;
  *) echo "The tests of Keras 3 on the newer line fail ($("$VENV/bin/python" --version), $VENV)." >&2 ;;
esac
exit "$status"
