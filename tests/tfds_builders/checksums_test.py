# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Verification by checksums of files or of their content, and use with a warning."""

import gzip

import pytest

from tfds_builders import checksums
from tfds_builders import errors
from tfds_builders.rows import row

# printf abc | sha256sum; printf abc | md5sum
_SHA256 = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
_MD5 = "md5:900150983cd24fb0d6963f7d28e17f72"


@pytest.fixture(name="plain")
def _plain(tmp_path):
  (tmp_path / "f").write_bytes(b"abc")
  return tmp_path / "f"


@pytest.fixture(name="packed")
def _packed(tmp_path):
  (tmp_path / "f.gz").write_bytes(gzip.compress(b"abc"))
  return tmp_path / "f.gz"


@pytest.mark.parametrize("accepted", [(_SHA256,), (_MD5,), ("md5:00", _MD5)])
def test_any_accepted_checksum_will_do(plain, accepted):
  file = row.File("f", checksums=accepted)
  assert checksums.verify(file, plain, trust=False) == _SHA256.split(":")[1]


def test_mismatch_says_got_and_known_and_next_step(plain):
  file = row.File("f", checksums=("md5:00",))
  with pytest.raises(errors.DataError, match="Checksum mismatch: .*f has sha256 ba7816bf.*known "
                     "for f: md5:00.*trust=True"):
    checksums.verify(file, plain, trust=False)


def test_packed_again_is_recognized_by_its_content(packed):
  file = row.File("f.gz", checksums=("md5:00",), content_checksums=(_MD5,))
  assert checksums.verify(file, packed, trust=False) == checksums.compute(packed)["sha256"]


def test_wrong_content_is_refused_even_if_trusted(packed):
  file = row.File("f.gz", checksums=("md5:00",), content_checksums=("md5:11",))
  with pytest.raises(errors.DataError, match="does not hold what f.gz should hold: .*md5 900150"):
    checksums.verify(file, packed, trust=True)


@pytest.mark.parametrize("file, trust", [(row.File("f"), False),
                                         (row.File("f", checksums=("md5:00",)), True)])
def test_unverified_file_is_used_with_one_warning(plain, file, trust, caplog):
  with caplog.at_level("WARNING"):
    checksums.verify(file, plain, trust=trust)
  warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
  assert len(warnings) == 1 and "ba7816bf" in warnings[0]
  assert "is used without a check" in warnings[0]


def test_truncated_gzip_names_the_file(packed):
  packed.write_bytes(packed.read_bytes()[:-6])
  file = row.File("f.gz", content_checksums=(_MD5,))
  with pytest.raises(errors.DataError, match=r"f\.gz cannot be read: EOFError"):
    checksums.verify(file, packed, trust=True)
