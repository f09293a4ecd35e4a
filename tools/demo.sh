#!/usr/bin/env bash
# Runs the quickstart on data that comes with scikit-learn (no download) and says where the results are.
#   tools/demo.sh [WORKDIR]          WORKDIR: ./runs/quickstart when not given
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

venv_install ""
mkdir -p "${1:-./runs/quickstart}"
workdir="$(cd "${1:-./runs/quickstart}" && pwd)"
"$VENV/bin/suite" run quickstart --workdir "$workdir"

echo
echo "Results (records.jsonl and summary.json of each learner):"
find "$workdir" -name summary.json | sort | sed 's|/summary.json$||; s|^|  |'
echo "TensorBoard folder:"
echo "  $workdir/tensorboard"
echo "Look at it with:"
echo "  $VENV/bin/tensorboard --logdir $workdir/tensorboard"
