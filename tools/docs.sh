#!/usr/bin/env bash
# Builds the documentation site into site/ (or the folder given); warnings are errors, no network is used but to install.
#   tools/docs.sh [FOLDER]
# The environment, beside the suite's, holds the extra "docs" alone: modules are read, not imported.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/_venv.sh"

VENV="${LIFELONG_DOCS_VENV:-$VENV-docs}"
folder="${1:-$ROOT/site}"
case "$folder" in /*) ;; *) folder="$PWD/$folder" ;; esac
if [ ! -x "$VENV/bin/mkdocs" ] || ! cmp -s "$ROOT/setup.cfg" "$VENV/setup.cfg"; then
  find_python
  "$PYTHON" -m venv --clear "$VENV"
  "$VENV/bin/python" - "$ROOT/setup.cfg" >"$VENV/docs.txt" <<'PROGRAM'
import configparser, sys
config = configparser.ConfigParser()
config.read(sys.argv[1], encoding="utf-8")
print(config["options.extras_require"]["docs"])
PROGRAM
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$VENV/docs.txt" >&2
  cp "$ROOT/setup.cfg" "$VENV/setup.cfg"  # Written last: a broken installation is tried again.
fi
cd "$ROOT"
# Not --quiet: warnings that are not printed are not counted either.
NO_MKDOCS_2_WARNING=1 "$VENV/bin/mkdocs" build --strict --site-dir "$folder"
# A page may link to other hosts, and must load nothing from them.
if grep -rnE '(<script[^>]* src|<link[^>]* rel="(stylesheet|preconnect|preload)"[^>]* href|<img[^>]* src)="?(https?:)?//' "$folder" --include='*.html'; then
  echo "These pages load files from other hosts: see theme and plugins in mkdocs.yml." >&2
  exit 1
fi
echo "The documentation is in $folder/index.html." >&2
