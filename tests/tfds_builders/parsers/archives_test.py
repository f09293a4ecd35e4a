# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Safe streaming of archives."""

import io
import stat
import tarfile
import zipfile

import pytest

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import tar_headers

_NAMES = ("a.zip", "a.tar", "a.tar.gz", "a.tar.xz")
_MEMBERS = {"d/b.txt": b"bb" * 5000, "d/a.txt": b"a",
            "__MACOSX/d/._a.txt": b"x", "d/.DS_Store": b"x"}


@pytest.mark.parametrize("name", _NAMES)
def test_members_without_debris(tmp_path, name):
  fixtures.write_archive(tmp_path / name, _MEMBERS)
  assert dict(archives.members(tmp_path / name)) == {"d/a.txt": b"a", "d/b.txt": b"bb" * 5000}


@pytest.mark.parametrize("name", _NAMES)
def test_the_format_is_detected_from_the_content(tmp_path, name):
  fixtures.write_archive(tmp_path / name, _MEMBERS)
  (tmp_path / name).rename(tmp_path / "download")
  assert len(dict(archives.members(tmp_path / "download"))) == 2


@pytest.mark.parametrize("name", _NAMES)
def test_only_wanted_members_are_read(tmp_path, name):
  fixtures.write_archive(tmp_path / name, _MEMBERS)
  wanted = lambda member: member.endswith("a.txt")
  assert dict(archives.members(tmp_path / name, wanted, max_bytes=10)) == {"d/a.txt": b"a"}


@pytest.mark.parametrize("name", _NAMES)
def test_huge_member_is_refused_before_it_is_read(tmp_path, name):
  fixtures.write_archive(tmp_path / name, _MEMBERS)
  with pytest.raises(errors.DataError, match=f"{name}, member 'd/b.txt' has 10000 bytes; at most"):
    list(archives.members(tmp_path / name, max_bytes=99))


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("member", [
    "../evil", "a/../../evil", "/etc/evil", "C:/evil", "a\\..\\evil"])
def test_unsafe_names_are_refused_even_if_not_wanted(tmp_path, name, member):
  fixtures.write_archive(tmp_path / name, {"ok": b"", member: b""})
  with pytest.raises(errors.DataError, match=f"{name}, member .*evil.* has an unsafe name"):
    list(archives.members(tmp_path / name, wanted=lambda n: False))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
  with tarfile.open(tmp_path / "a.tar", "w") as archive:
    info = tarfile.TarInfo("link")
    info.type, info.linkname = kind, "/etc/passwd"
    archive.addfile(info)
  with pytest.raises(errors.DataError, match="a.tar, member 'link' is a link or a device"):
    list(archives.members(tmp_path / "a.tar"))


def test_links_in_a_zip_are_refused(tmp_path):
  with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(info, "/etc/passwd")
  with pytest.raises(errors.DataError, match="a.zip, member 'link' is a link"):
    list(archives.members(tmp_path / "a.zip"))


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.85])
def test_truncated_archive_is_named(tmp_path, name, kept):
  members = {f"d/{i}.bin": fixtures.pixels((3000,), seed=i).tobytes() for i in range(20)}
  path = tmp_path / name
  fixtures.write_archive(path, members)
  data = path.read_bytes()
  path.write_bytes(data[:int(len(data) * kept)])
  with pytest.raises(errors.DataError, match=rf"{name}.* cannot be read: \w+: .*truncated"):
    list(archives.members(path))


@pytest.mark.parametrize("cut", [2 * 1024, 2 * 1024 + 100])
def test_plain_tar_cut_between_members_or_in_a_header_is_named(tmp_path, cut):
  path = tmp_path / "a.tar"
  fixtures.write_archive(path, {"a": bytes(512), "b": bytes(512), "c": bytes(512)})
  path.write_bytes(path.read_bytes()[:cut])
  with pytest.raises(errors.DataError, match="a.tar cannot be read: EOFError: its end-of-arch"):
    list(archives.members(path))


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.xz"])
def test_damage_at_the_very_end_is_noticed(tmp_path, name):
  path = tmp_path / name
  fixtures.write_archive(path, _MEMBERS)
  path.write_bytes(path.read_bytes()[:-4])
  with pytest.raises(errors.DataError, match=f"{name} cannot be read"):
    list(archives.members(path))


def test_damaged_zip_member_is_named(tmp_path):
  path = tmp_path / "a.zip"
  with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
    archive.writestr("d/a.txt", b"hello world")
  path.write_bytes(path.read_bytes().replace(b"hello", b"jello"))
  with pytest.raises(errors.DataError, match=r"a.zip, member 'd/a.txt' cannot be read: .*CRC"):
    list(archives.members(path))


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_a_file_that_is_not_an_archive_is_named(tmp_path, name):
  (tmp_path / name).write_bytes(b"<html>404 not found</html>" * 40)
  with pytest.raises(errors.DataError, match=f"{name} cannot be read"):
    list(archives.members(tmp_path / name))


def test_read_content_has_a_bound(tmp_path):
  fixtures.write_gzip(tmp_path / "a.gz", bytes(100))
  assert archives.read_content(tmp_path / "a.gz") == bytes(100)
  with pytest.raises(errors.DataError, match="a.gz holds more than the 99 bytes"):
    archives.read_content(tmp_path / "a.gz", max_bytes=99)


def test_a_consumers_own_error_is_left_alone(tmp_path):
  fixtures.write_archive(tmp_path / "a.zip", _MEMBERS)
  with pytest.raises(io.UnsupportedOperation):
    for _ in archives.members(tmp_path / "a.zip"):
      raise io.UnsupportedOperation()


@pytest.mark.parametrize("name", ["bomb.zip", "bomb.tar.gz", "bomb.tar.xz"])
@pytest.mark.parametrize("wanted", [True, False])
def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path, monkeypatch, name, wanted):
  monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1 << 20)
  fixtures.write_archive(tmp_path / name, {f"{i}.bin": bytes(400_000) for i in range(8)})
  read = archives.members(tmp_path / name, lambda _: wanted)
  if name.endswith(".zip") and not wanted:
    assert not list(read)  # What is not wanted in a zip is never unpacked.
    return
  with pytest.raises(errors.DataError, match=f"{name} unpacks to more than 1048576 bytes"):
    list(read)


def test_members_come_as_they_are_stored(tmp_path):
  for name in ("a.zip", "a.tar"):
    fixtures.write_archive(tmp_path / name, {"b": b"1", "a": b"2", "c": b"3"})
    assert [member for member, _ in archives.members(tmp_path / name)] == ["b", "a", "c"]


def _header(kind, body, name="x"):
  """An extended header with this body, and a member after it."""
  info = tarfile.TarInfo("pax")
  info.type, info.size = kind, len(body)
  member = tarfile.TarInfo(name)
  pad = lambda data: data + bytes(-len(data) % tarfile.BLOCKSIZE)
  return info.tobuf(tarfile.USTAR_FORMAT) + pad(body) + member.tobuf(tarfile.USTAR_FORMAT)


_END = bytes(2 * tarfile.BLOCKSIZE)


@pytest.mark.parametrize("data, message", [
    # Two expressions of tarfile take the square of this header's length.
    (_header(tarfile.XHDTYPE, b"1" * 200_000), "extended header of 200000 bytes; at most 8192"),
    (_header(tarfile.GNUTYPE_LONGNAME, b"n" * 9000), "extended header of 9000 bytes"),
    (_header(tarfile.XHDTYPE, b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"), "a.tar "),
    (_header(tarfile.XHDTYPE, b"25 GNU.sparse.map=0,x,1,\n"), "a.tar "),
    (_header(tarfile.XHDTYPE, b"24 hdrcharset=no such\xff\n"), "a.tar "),
    (_header(tarfile.XHDTYPE, b"0 a=b\n"), "a.tar "),
])
def test_crafted_tar_headers_are_data_errors(tmp_path, data, message):
  (tmp_path / "a.tar").write_bytes(data + _END)
  with pytest.raises(errors.DataError, match=message):
    list(archives.members(tmp_path / "a.tar"))


def test_many_slow_tar_headers_end(tmp_path, monkeypatch):
  monkeypatch.setattr(tar_headers, "MAX_SECONDS", 0.0)
  (tmp_path / "a.tar").write_bytes(_header(tarfile.XHDTYPE, b"13 comment=x\n") * 3 + _END)
  with pytest.raises(errors.DataError, match="a.tar is not read. Its extended headers took"):
    list(archives.members(tmp_path / "a.tar"))


def test_long_names_are_read(tmp_path):
  name = "a/" + "long" * 200
  for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
    with tarfile.open(tmp_path / "a.tar", "w", format=kind) as archive:
      info = tarfile.TarInfo(name)
      info.size = 2
      archive.addfile(info, io.BytesIO(b"ok"))
    assert dict(archives.members(tmp_path / "a.tar")) == {name: b"ok"}
