#!/usr/bin/env bash
# Builds the image of the Dockerfile where a docker daemon answers, else lints it; arguments go to `docker build`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if docker info > /dev/null 2>&1; then
  exec docker build -t lifelong-suite "$@" .
fi
echo "docker: no daemon answers here, so the image is not built."
if command -v hadolint > /dev/null; then
  hadolint Dockerfile
else
  echo "hadolint: not installed, so the Dockerfile is checked by tests/docker_test.py alone."
fi
PYTHON="${PYTHON:-$(test -x .venv/bin/python && echo .venv/bin/python || echo python3)}"
"$PYTHON" -m pytest -q tests/docker_test.py
