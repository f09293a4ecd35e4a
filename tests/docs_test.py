# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Code of README.md, docs/extending.md and docs/own runs as it stands; paths in all pages exist.

Blocks ```python are run as programs and ```gin as run files, each in an empty folder. The lines of
```python excerpt and ```gin excerpt are in the file that their first line names, in this order.
"""

from __future__ import annotations

import json
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)( excerpt)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [pytest.param(*found, id=f"{page.stem}-{i}")
          for page in (ROOT / "README.md", ROOT / "docs" / "extending.md",
                       *sorted((ROOT / "docs" / "own").glob("*.md")))
          for i, found in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))]
PATH = re.compile(r"`((?:suite|gin|tests|tools|docs|tfds_builders)/[\w./]*)(?::[\w.]+)?`")


@pytest.mark.parametrize("language, excerpt, code", BLOCKS)
def test_every_block_runs_or_is_in_its_file(language, excerpt, code, python, tmp_path):
  if excerpt:
    first, *lines = code.splitlines()
    rest = iter((ROOT / first.lstrip("# ")).read_text(encoding="utf-8").splitlines())
    missing = [line for line in lines if line.strip() and line not in rest]
    assert not missing, f"{first} has no such line, or not in this order: {missing[0]}"
    return
  assert language in ("python", "gin"), f"a block of {language}, which no test runs"
  path = tmp_path / f"block.{'py' if language == 'python' else 'gin'}"
  path.write_text(code, encoding="utf-8")
  program = [str(path)] if language == "python" else ["-m", "suite", "run", str(path)]
  done = python.run(program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(
      filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))})
  assert done.returncode == 0, done.stdout + done.stderr
  assert list(tmp_path.glob("runs/**/records.jsonl"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_that_a_page_names_exists(page):
  text = page.read_text(encoding="utf-8")
  named = {path for path in PATH.findall(text) if not re.search(r"[A-Z]{3}|/x\.py", path)}
  missing = sorted(path for path in named if not (ROOT / path).exists())
  links = {link for link in re.findall(r"\]\(([^):#]+)\)", text) if "//" not in link}
  missing += sorted(link for link in links if not (page.parent / link).exists())
  assert not missing, f"{page.name} names {', '.join(missing)}"


def test_every_pod_of_the_manifest_reads_its_place_in_the_cluster():
  yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra beam installs")
  text = (ROOT / "docs" / "kubernetes.yaml").read_text(encoding="utf-8")
  service, job = yaml.safe_load_all(text)
  name, spec = job["metadata"]["name"], job["spec"]
  pod = spec["template"]["spec"]
  container, = pod["containers"]
  assert (service["kind"], job["kind"], spec["completionMode"]) == ("Service", "Job", "Indexed")
  assert pod["subdomain"] == service["metadata"]["name"]
  assert service["spec"]["selector"] == {"job-name": name}
  assert container["command"] == ["suite"] and "multi_worker" in container["args"]
  index, config = container["env"]  # A variable is replaced in those after it.
  assert config["name"] == "TF_CONFIG" and spec["completions"] == spec["parallelism"]
  for number in range(spec["completions"]):
    found = json.loads(config["value"].replace(f"$({index['name']})", str(number)))
    assert found["task"] == {"type": "worker", "index": number}
    hosts = [f"{name}-{i}.{pod['subdomain']}:2222" for i in range(spec["completions"])]
    assert found["cluster"] == {"worker": hosts}
