#!/usr/bin/env bash
# Checks the types of the files that setup.cfg names, in the checkout's own environment; arguments go to mypy.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

venv_install "[dev]"
cd "$ROOT"
exec "$VENV/bin/python" -m mypy "$@"
