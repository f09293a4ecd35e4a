# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sources: the mirror, TFDS's own copy or a download, and messages about missing files."""

import contextlib
import csv
import dataclasses
import functools
import hashlib
import http.server
import json
import re
import struct
import threading
import tokenize

import pytest
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import downloader

import tfds_builders
from tfds_builders import access
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import sources
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import idx
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.object import fashion_mnist
from tfds_builders.rows.nevis.object import tiny_imagenet
from tfds_builders.rows.nevis.ocr import mnist
from tfds_builders.rows.nevis.ocr import semeion


@pytest.fixture(name="server")
def _server(tmp_path, monkeypatch):
  """(folder, URL) of a web server on this machine."""
  monkeypatch.setenv("NO_PROXY", "127.0.0.1")
  monkeypatch.setenv("no_proxy", "127.0.0.1")
  folder = tmp_path / "www"
  folder.mkdir()

  class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
      pass

  handler = functools.partial(Quiet, directory=str(folder))
  server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
  threading.Thread(target=server.serve_forever, daemon=True).start()
  yield folder, f"http://127.0.0.1:{server.server_address[1]}/"
  server.shutdown()
  server.server_close()


def _downloadable(row, url, **changes):
  layout = row.layouts[0]
  files = tuple(dataclasses.replace(f, url=url + f.name, **changes) for f in layout.files)
  return dataclasses.replace(row, layouts=(dataclasses.replace(layout, files=files),))


def _records(name, split, data_dir):
  dataset = tfds.load(f"nevis/{name}", split=split, data_dir=data_dir, download=False)
  return [(r["id"], r["label"], r["image"].tobytes()) for r in tfds.as_numpy(dataset)]


def test_download_and_mirror_give_the_same_records(tmp_path, server):
  folder, url = server
  row, _ = testing.write(semeion.ROW, semeion.ROW.layouts[0], folder)
  with testing.installed(_downloadable(row, url)):
    assert tfds_builders.status.inspect("nevis/semeion", tmp_path / "a").state == "listed"
    builder = tfds_builders.build("nevis/semeion", tmp_path / "a")
  assert json.loads((builder.data_path / "metadata.json").read_text())["origin"] == "download"
  with testing.installed(row, folder):
    tfds_builders.build("nevis/semeion", tmp_path / "b")
  for split in splits.NAMES:
    one, two = (_records("semeion", split, tmp_path / folder) for folder in "ab")
    assert one == two


def test_tfds_load_alone_downloads_too(tmp_path, server):
  folder, url = server
  row, counts = testing.write(semeion.ROW, semeion.ROW.layouts[0], folder)
  with testing.installed(_downloadable(row, url)):
    loaded = tfds.load("nevis/semeion", data_dir=tmp_path / "a")
  assert sum(len(dataset) for dataset in loaded.values()) == counts["all"]


def test_download_with_a_wrong_checksum_is_refused(tmp_path, server):
  folder, url = server
  row, _ = testing.write(semeion.ROW, semeion.ROW.layouts[0], folder)
  with testing.installed(_downloadable(row, url, checksums=("md5:00",))), \
      pytest.raises(errors.DataError, match="Checksum mismatch: .*downloads.*known for sem"):
    tfds_builders.build("nevis/semeion", tmp_path / "a")
  assert not list((tmp_path / "a" / "nevis").rglob("*record*"))
  # It is kept under another name, and the next build downloads again.
  kept, = (tmp_path / "a").rglob("*.refused")
  assert kept.read_bytes() == (folder / row.layouts[0].files[0].name).read_bytes()
  with testing.installed(_downloadable(row, url)):
    tfds_builders.build("nevis/semeion", tmp_path / "a")


def test_a_dead_link_says_what_to_do(tmp_path, server):
  _, url = server
  row = _downloadable(semeion.ROW, url)
  with testing.installed(row, tmp_path), pytest.raises(errors.DataError) as caught:
    tfds_builders.build("nevis/semeion", tmp_path / "a")
  message = str(caught.value)
  for part in ("nevis/semeion needs semeion.data", url, f"Not found in: mirror {tmp_path}",
               "suite data build nevis/semeion --mirror DIR", "The download failed", "404"):
    assert part in message, (part, message)


def test_a_missing_source_says_where_it_was_searched(tmp_path):
  layout = dataclasses.replace(semeion.ROW.layouts[0],
                               files=(row_lib.File("semeion.data", "kaggle:a/b"),))
  with testing.installed(dataclasses.replace(semeion.ROW, layouts=(layout,))), \
      pytest.raises(errors.DataError, match=r"data \(kaggle:a/b\).*no mirror .*--mirror DIR"):
    tfds_builders.build("nevis/semeion", tmp_path / "a")


def test_mirror_takes_the_first_layout_it_has_whole(tmp_path):
  row = tiny_imagenet.ROW
  with testing.installed(row, tmp_path):
    assert sources.in_mirror(row) is None
    (tmp_path / "tiny-imagenet-200-slim.tar.xz").write_bytes(b"x")
    assert sources.in_mirror(row)[0] is row.layouts[1]
    (tmp_path / "tiny-imagenet-200.zip").write_bytes(b"x")
    assert sources.in_mirror(row)[0] is row.layouts[0]
  with testing.installed(mnist.ROW, tmp_path):
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(b"x")
    assert sources.in_mirror(mnist.ROW) is None


def test_a_file_of_another_data_set_is_passed_over(tmp_path):
  """Other data sets use MNIST's file names; their content differs."""
  row, _ = testing.write(mnist.ROW, mnist.ROW.layouts[0], tmp_path / "z")
  layout = row.layouts[0]
  files = tuple(dataclasses.replace(f, content_checksums=("sha256:" + sources.checksums.compute(
      tmp_path / "z" / f.name, content=True)["sha256"],)) for f in layout.files)
  row = dataclasses.replace(row, layouts=(dataclasses.replace(layout, files=files),))
  (tmp_path / "a").mkdir()
  for file in files:
    fixtures.write_gzip(tmp_path / "a" / file.name, b"something else")
  with testing.installed(row, tmp_path):
    tfds_builders.build("nevis/mnist", tmp_path / "data")
    for file in files:
      (tmp_path / "z" / file.name).unlink()
    with pytest.raises(errors.DataError, match="does not hold what train-.* belongs to another"):
      tfds_builders.build("nevis/mnist", tmp_path / "more")


def test_a_copy_prepared_by_tfds_gives_the_same_records_as_the_original_files(tmp_path):
  row, counts = testing.write(mnist.ROW, mnist.ROW.layouts[0], tmp_path / "mirror")
  folder = tmp_path / "mirror"
  pixels = {split: (idx.read(folder / images, ndim=3), idx.read(folder / labels, ndim=1))
            for split, (images, labels) in mnist.ROW.layouts[0].args["parts"].items()}

  class ToyDigits(tfds.core.GeneratorBasedBuilder):
    """As TFDS's MNIST: no names, keys are positions."""
    VERSION = tfds.core.Version("3.0.1")

    def _info(self):
      return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
          "image": tfds.features.Image(shape=(6, 5, 1)),
          "label": tfds.features.ClassLabel(num_classes=10)}))

    def _split_generators(self, dl_manager):
      return {split: self._generate_examples(split) for split in ("train", "test")}

    def _generate_examples(self, split):
      for index, (image, label) in enumerate(zip(*pixels[split])):
        yield index, {"image": image[..., None], "label": int(label)}

  with testing.installed(row, tmp_path / "mirror"):
    tfds_builders.build("nevis/mnist", tmp_path / "a")
  with testing.installed(dataclasses.replace(row, tfds=row_lib.TfdsSet(
      ("toy_digits:3.*.*",), {"train": "train", "test": "test"}))):
    builder = tfds_builders.build("nevis/mnist", tmp_path / "b")
  metadata = json.loads((builder.data_path / "metadata.json").read_text())
  assert metadata["origin"] == "tfds" and metadata["files"] == {"toy_digits/3.0.1": ""}
  for split in splits.NAMES:
    one, two = (_records("mnist", split, tmp_path / folder) for folder in "ab")
    assert one == two
  assert sum(counts.values()) == 160


@pytest.mark.parametrize("error", [
    KeyError("lookup"), csv.Error("line contains NUL"), tokenize.TokenError("EOF in statement"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), MemoryError(), struct.error("unpack")])
def test_what_a_parser_stumbles_over_is_a_data_error(tmp_path, error):
  def parse(paths):
    del paths
    yield "an example"
    raise error

  examples = sources._parsed(parse, {"x.csv": tmp_path / "x.csv"}, {})
  assert next(examples) == "an example"
  with pytest.raises(errors.DataError, match=rf"x.csv: .*{type(error).__name__}.*get it again"):
    next(examples)


class _TfdsBuilder:
  """What `sources` asks of a builder of TFDS: the files of one data set."""

  name = "fruits"

  def __init__(self, **contents):
    self.url_infos = {f"http://x.org/{name}": tfds.download.checksums.UrlInfo(
        size=len(content), checksum=hashlib.sha256(content).hexdigest(), filename=name)
                      for name, content in contents.items()}


def test_files_that_tfds_would_download_are_taken_from_the_mirror(tmp_path):
  builder = _TfdsBuilder(a=b"apples", b=b"pears")
  for place, content in (("one/a", b"apples"), ("other/b", b"plums"), ("links", None)):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(content) if content else (tmp_path / place).mkdir()
  with _mirror(tmp_path):
    sources._link_mirrored(builder, tmp_path / "links")
    assert [path.name for path in (tmp_path / "links").iterdir()] == ["a"]
    assert (tmp_path / "links" / "a").read_bytes() == b"apples"
    # The file of another data set has the same name; one in the set's own folder is damaged.
    (tmp_path / "fruits").mkdir()
    (tmp_path / "fruits" / "b").write_bytes(b"pears cut off")
    (tmp_path / "again").mkdir()
    with pytest.raises(errors.DataError, match="fruits/b"):
      sources._link_mirrored(builder, tmp_path / "again")


@contextlib.contextmanager
def _mirror(folder):
  before = tfds_builders.mirror.state()
  tfds_builders.mirror.use(folder)
  try:
    yield
  finally:
    tfds_builders.mirror.restore(before)


def test_an_archive_of_something_else_is_refused_with_what_it_holds(tmp_path):
  layout = tiny_imagenet.ROW.layouts[0]
  path = tmp_path / layout.files[0].name
  fixtures.write_archive(path, {"notes/readme.txt": b"x", "cat.jpg": b"x", "dog.jpg": b"x"})
  with pytest.raises(errors.DataError, match="wnids.txt.* begins with the files .*cat.jpg"):
    list(sources._parsed(layout.parser.parse, {path.name: path}, layout.args))


def test_draws_of_the_store_of_tfds_are_not_read_from_archives():
  row, paper = row_lib.variants(fashion_mnist.ROW)
  assert row.layouts and paper.name == "fashion_mnist_paper" and not paper.layouts


def test_a_server_that_is_not_there_is_asked_twice():
  with sources._two_tries():
    assert downloader.MAX_RETRIES == 1
  assert downloader.MAX_RETRIES > 1


def test_a_message_about_missing_files_says_where_the_home_page_is_and_what_is_inside():
  said = sources.not_found("slimagenet64/images", catalog.find("slimagenet64/images")[1])
  assert "home page: https://zenodo.org/record/3672132" in said
  assert "inside: {split}/{label}/{item}.{extension}" in said
  assert "save the archive of https://zenodo.org/record/3672132 as DIR/SlimageNet64" in said
  for name in catalog.names():  # Of every row: what is inside, and where to read more.
    _, row = catalog.find(name)
    for layout in row.layouts:
      said = access.instructions(row, layout, name)
      assert re.search(r"^  inside: \S", said, re.M) and f"home page: {row.homepage}" in said, name
      assert layout.notes in said
