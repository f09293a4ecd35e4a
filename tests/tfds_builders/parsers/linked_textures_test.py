# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Links in archives inside an archive."""

import io
import shutil
import subprocess
import tarfile

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import linked_textures

pytestmark = pytest.mark.skipif(shutil.which("gzip") is None, reason="the command gzip is missing")
_PPM = b"P6\n1 1\n255\nabc"


def _tar(files, links):
  stream = io.BytesIO()
  with tarfile.open(fileobj=stream, mode="w") as archive:
    for name, data in files.items():
      info = tarfile.TarInfo(name)
      info.size = len(data)
      archive.addfile(info, io.BytesIO(data))
    for name, target in links.items():
      info = tarfile.TarInfo(name)
      info.type, info.linkname = tarfile.SYMTYPE, target
      archive.addfile(info)
  return stream.getvalue()


def _parse(tmp_path, files, links, **others):
  inner = linked_textures.compressed(_tar(files, links))
  fixtures.write_archive(tmp_path / "v.tar.gz", {"V/a.tar.Z": inner, **others})
  return [(one.key, one.label) for one in linked_textures.parse({"v": tmp_path / "v.tar.gz"})]


def test_the_written_format_is_what_gzip_reads(tmp_path):
  data = bytes(range(256)) * 33
  (tmp_path / "a.Z").write_bytes(linked_textures.compressed(data))
  assert subprocess.run(["gzip", "-dc", str(tmp_path / "a.Z")], check=True,
                        capture_output=True).stdout == data


def test_links_are_followed_across_archives(tmp_path):
  second = linked_textures.compressed(_tar({"V/big/Bark.1.ppm": _PPM}, {}))
  found = _parse(tmp_path, {"V/Images/Reference/Sky/S.0.ppm": _PPM}, {
      "V/Images/Reference/Bark/B.0.ppm": "../../../other/B.0.ppm",
      "V/other/B.0.ppm": "../big/Bark.1.ppm"}, **{"V/b.tar.Z": second})
  assert sorted(found) == [("Bark/B.0", "Bark"), ("Sky/S.0", "Sky")]


def test_a_link_elsewhere_that_leads_out_does_not_matter(tmp_path):
  found = _parse(tmp_path, {"V/Images/Reference/Sky/S.0.ppm": _PPM}, {"V/bin/view": "/usr/bin/xv"})
  assert found == [("Sky/S.0", "Sky")]


@pytest.mark.parametrize("links, message", [
    ({"V/Images/Reference/Bark/B.0.ppm": "../gone.ppm"}, "1 of 2 links have no target"),
    ({"V/Images/Reference/Bark/B.0.ppm": "B.0.ppm"}, "1 of 2 links have no target"),
    ({"V/Images/Reference/Bark/B.0.ppm": "../../../../../etc/passwd"}, "1 of 2 links"),
    ({"V/Images/Reference/Bark/B.0.ppm": "/etc/passwd"}, "1 of 2 links have no target"),
])
def test_links_without_a_target_or_out_of_the_archive_are_refused(links, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {"V/Images/Reference/Sky/S.0.ppm": _PPM}, links)


def test_damaged_inner_archives_are_refused(tmp_path):
  fixtures.write_archive(tmp_path / "v.tar.gz", {"V/a.tar.Z": b"\x1f\x8b no LZW"})
  with pytest.raises(errors.DataError, match="cannot be decompressed"):
    list(linked_textures.parse({"v": tmp_path / "v.tar.gz"}))
  fixtures.write_archive(tmp_path / "v.tar.gz", {"V/a.txt": b""})
  with pytest.raises(errors.DataError, match="holds no .tar.Z"):
    list(linked_textures.parse({"v": tmp_path / "v.tar.gz"}))
