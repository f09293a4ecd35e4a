# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Small pictures of every mode, with pixels known by hand: equal wherever they come in."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
from PIL import Image
from PIL import ImageCms
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from suite.beside.curation import pictures
from suite.data.images import image_ops
from suite.data.images import own_images
from suite.data.images import prepared_sets
from suite.data.own import image_sources
from suite.data.own import timeline_store
import tfds_builders

SIZE = (16, 24)
TURN = 6  # EXIF's orientation: turn clockwise by 90 degrees.


def _halves(top, bottom, dtype=np.uint8) -> np.ndarray:
  """[16, 24] or [16, 24, C]: one value above, another one below."""
  found = np.zeros([*SIZE, *np.shape(top)], dtype)
  found[:8], found[8:] = top, bottom
  return found


def _file(image, kind, **options) -> bytes:
  image = image if isinstance(image, Image.Image) else Image.fromarray(image)
  data = io.BytesIO()
  image.save(data, kind, **options)
  return data.getvalue()


def _turned(kind, **options) -> bytes:
  """A file that is stored sideways and says so."""
  exif = Image.Exif()
  exif[0x0112] = TURN
  return _file(np.rot90(RGB), kind, exif=exif, **options)


def _tiff(values: np.ndarray, bits: int, white_is_zero: bool) -> bytes:
  """A gray TIFF of 12 or 16 bits, which Pillow reads but does not write."""
  rows = values.astype(np.uint32)
  if bits == 16:
    body = rows.astype("<u2").tobytes()
  else:
    first, second = rows[:, ::2], rows[:, 1::2]
    body = np.stack([first >> 4, (first & 15) << 4 | second >> 8, second & 255],
                    axis=-1).astype(np.uint8).tobytes()
  tags = [(256, SIZE[1]), (257, SIZE[0]), (258, bits), (259, 1), (262, 0 if white_is_zero else 1),
          (273, 8), (277, 1), (278, SIZE[0]), (279, len(body))]
  entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
  return (b"II*\0" + struct.pack("<I", 8 + len(body)) + body + struct.pack("<H", len(tags))
          + entries + struct.pack("<I", 0))


RED, BLUE = (250, 20, 20), (20, 20, 250)
RGB = _halves(RED, BLUE)
GRAY = _halves(200, 50)
DEEP = _halves(0x8000, 0x40FF, np.uint16)
PALETTE = Image.fromarray(RGB).convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
ALPHA = np.dstack([RGB, _halves(255, 0)])
INK = np.dstack([np.zeros_like(RGB), _halves(255, 0)])  # Black above, nothing below.
OTHER = [Image.fromarray(255 - RGB)]
LAB = ImageCms.profileToProfile(
    Image.fromarray(_halves((255,) * 3, (0,) * 3)), ImageCms.createProfile("sRGB"),
    ImageCms.createProfile("LAB"), outputMode="LAB")
CMYK = Image.fromarray(_halves((0, 255, 255, 0), (255, 255, 0, 0)), "CMYK")

# Name of the file -> its bytes, value above, value below, greatest difference.
FILES = {
    "plain.png": (_file(RGB, "PNG"), RED, BLUE, 0),
    "plain.jpg": (_file(RGB, "JPEG", quality=95, subsampling=0), RED, BLUE, 4),
    "gray.jpg": (_file(GRAY, "JPEG"), 200, 50, 2),
    "bmp_as.jpg": (_file(RGB, "BMP"), RED, BLUE, 0),
    "palette.bmp": (_file(PALETTE, "BMP"), RED, BLUE, 0),
    "one_bit.bmp": (_file(Image.fromarray(_halves(255, 0)).convert("1"), "BMP"), 255, 0, 0),
    "palette.png": (_file(PALETTE, "PNG"), RED, BLUE, 0),
    "transparent.png": (_file(PALETTE, "PNG", transparency=0), RED, BLUE, 0),
    "alpha.png": (_file(ALPHA, "PNG"), RED, BLUE, 0),
    "alpha.tif": (_file(ALPHA, "TIFF"), RED, BLUE, 0),
    "gray_alpha.png": (_file(Image.fromarray(np.dstack([GRAY, GRAY]), "LA"), "PNG"), 200, 50, 0),
    "ink.png": (_file(INK, "PNG"), 0, 255, 0),
    "light_ink.webp": (_file(INK ^ 255, "WEBP", lossless=True, exact=True), 0, 255, 0),
    "one_bit.png": (_file(Image.fromarray(_halves(255, 0)).convert("1"), "PNG"), 255, 0, 0),
    "one_bit.tif": (_file(Image.fromarray(_halves(255, 0)).convert("1"), "TIFF"), 255, 0, 0),
    "cmyk.tif": (_file(CMYK, "TIFF"), (255, 0, 0), (0, 0, 255), 0),
    "cmyk.jpg": (_file(CMYK, "JPEG", quality=95, subsampling=0), (255, 0, 0), (0, 0, 255), 4),
    "lab.tif": (_file(LAB, "TIFF"), 255, 0, 3),
    "progressive.jpg": (_file(RGB, "JPEG", quality=95, subsampling=0, progressive=True), RED, BLUE,
                        4),
    "plain.ppm": (_file(RGB, "PPM"), RED, BLUE, 0),
    "plain.webp": (_file(RGB, "WEBP", lossless=True), RED, BLUE, 0),
    "plain.jp2": (_file(RGB, "JPEG2000"), RED, BLUE, 0),
    "deep.png": (_file(DEEP, "PNG"), 0x80, 0x40, 0),
    "deep.tif": (_file(DEEP, "TIFF"), 0x80, 0x40, 0),
    "big_endian.tif": (_file(Image.frombytes("I;16B", SIZE[::-1], DEEP.astype(">u2").tobytes()),
                             "TIFF"), 0x80, 0x40, 0),
    "deep.pgm": (b"P5\n24 16\n65535\n" + DEEP.astype(">u2").tobytes(), 0x80, 0x40, 0),
    "negative.tif": (_tiff(DEEP, 16, True), 0x7F, 0xBF, 0),
    "twelve_bits.tif": (_tiff(_halves(0x800, 0x40F, np.uint16), 12, False), 0x80, 0x40, 0),
    "integers.tif": (_file(DEEP.astype(np.int32), "TIFF"), 0x80, 0x40, 0),
    "few_integers.tif": (_file(GRAY.astype(np.int32), "TIFF"), 200, 50, 0),
    "unit_floats.tif": (_file(_halves(0.5, 0.25, np.float32), "TIFF"), 128, 64, 0),
    "floats.tif": (_file(GRAY.astype(np.float32), "TIFF"), 200, 50, 0),
    "other_floats.tif": (_file(_halves(3, -1, np.float32), "TIFF"), 255, 0, 0),
    "pages.tif": (_file(RGB, "TIFF", save_all=True, append_images=OTHER), RED, BLUE, 0),
    "frames.gif": (_file(PALETTE, "GIF", save_all=True, append_images=OTHER), RED, BLUE, 0),
    "frames.png": (_file(RGB, "PNG", save_all=True, append_images=OTHER), RED, BLUE, 0),
    "frames.webp": (_file(RGB, "WEBP", lossless=True, save_all=True, append_images=OTHER), RED,
                    BLUE, 0),
    "turned.jpg": (_turned("JPEG", quality=95, subsampling=0), RED, BLUE, 4),
    "turned.png": (_turned("PNG"), RED, BLUE, 0),
    "turned.tif": (_turned("TIFF"), RED, BLUE, 0),
    "turned.webp": (_turned("WEBP", lossless=True), RED, BLUE, 0),
}
NAMES = sorted(FILES)


class OwnPictures(tfds.core.GeneratorBasedBuilder):
  """The files, as a user's own data set."""

  VERSION = tfds.core.Version("1.0.0")
  files: list = []

  def _info(self):
    return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
        "image": tfds.features.Image(), "label": tfds.features.ClassLabel(num_classes=1),
        "id": tfds.features.Text()}))

  def _split_generators(self, dl_manager):
    return {"train": ((name, {"image": io.BytesIO(data), "label": 0, "id": name})
                      for name, data in self.files)}

  def _generate_examples(self):
    """Not used."""


def _prepared(files, data_dir) -> str:
  OwnPictures.files = files
  OwnPictures(data_dir=data_dir).download_and_prepare()
  return "own_pictures"


def _by_id(images) -> list[np.ndarray]:
  """The pixels in the order of NAMES."""
  places = {str(one).rpartition("/")[2]: place for place, one in enumerate(images.ids)}
  return [images.pixels()[places[name]] for name in NAMES]


def _directory(folder):
  return _by_id(image_sources.from_directory(folder, classes=["x"]))


def _table(folder):
  (folder / "own.csv").write_text("path,label\n" + "".join(f"x/{name},x\n" for name in NAMES))
  return _by_id(image_sources.from_csv(folder / "own.csv"))


def _rows(folder):
  return list(image_sources.from_huggingface([
      {"image": Image.open(folder / "x" / name), "label": 0} for name in NAMES]).pixels())


def _rows_of_bytes(folder):
  del folder
  return list(image_sources.from_huggingface([
      {"image": {"bytes": FILES[name][0], "path": None}, "label": 0} for name in NAMES]).pixels())


def _files_of_a_pipeline(folder):
  del folder
  files = [FILES[name][0] for name in NAMES]
  dataset = tf.data.Dataset.from_tensor_slices((files, [0] * len(files)))
  return list(image_sources.from_dataset(dataset.batch(5)).pixels())


def _own_tfds(folder):
  name = _prepared([(name, FILES[name][0]) for name in NAMES], folder)
  read = image_sources.from_tfds(name, data_dir=str(folder))
  # Read as they are used, they are the same.
  streamed = prepared_sets.StreamedSet(prepared_sets.open_source(name, "train",
                                                                 data_dir=str(folder)))
  batch = next(iter(streamed.eval_batches(len(NAMES), transform=image_ops.Plain(16))))
  np.testing.assert_array_equal(batch["image"], read.pixels(16))
  return _by_id(read)


def _timeline(folder):
  (folder / "t.csv").write_text("")
  found = [tfds_builders.timelines.DatedImage(
      "bucket_01", name, "x", folder / "x" / name, name,
      {"time": 0, "place": i, **{f"iid_test_{s}": False for s in range(5)}})
           for i, name in enumerate(NAMES)]
  timeline_store.of_files("table", found, class_names=["x"], files=[folder / "t.csv"], facts={},
                          data_dir=str(folder))
  return _by_id(image_sources.from_tfds("timeline/table", "bucket_01", data_dir=str(folder)))


def _curated(folder):
  """What reviewers see, and what `export` packs."""
  shown = []
  for name in NAMES:
    with pictures.opened(folder / "x" / name) as image:
      shown.append(np.asarray(image))
    packed = pictures.packed(folder / "x" / name, own_images.png)
    np.testing.assert_allclose(tf.io.decode_image(packed, channels=3).numpy().astype(int),
                               shown[-1].astype(int), atol=FILES[name][3])
  return shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  found = tmp_path_factory.mktemp("own_images")
  (found / "x").mkdir()
  for name, (data, *_) in FILES.items():
    (found / "x" / name).write_bytes(data)
  return found


@pytest.mark.parametrize("door", [_directory, _table, _rows, _rows_of_bytes,
                                  _files_of_a_pipeline, _own_tfds, _timeline, _curated])
def test_every_mode_has_the_same_pixels_wherever_it_comes_in(door, folder):
  found = door(folder)
  assert len(found) == len(NAMES)
  for name, image in zip(NAMES, found):
    _, top, bottom, most = FILES[name]
    expected = _halves(np.broadcast_to(top, 3), np.broadcast_to(bottom, 3))
    np.testing.assert_allclose(image.astype(int), expected, atol=most, err_msg=name)


# [[1, 2, 3], [4, 5, 6]] as EXIF's eight orientations show it.
SHOWN = {1: [[1, 2, 3], [4, 5, 6]], 2: [[3, 2, 1], [6, 5, 4]], 3: [[6, 5, 4], [3, 2, 1]],
         4: [[4, 5, 6], [1, 2, 3]], 5: [[1, 4], [2, 5], [3, 6]], 6: [[4, 1], [5, 2], [6, 3]],
         7: [[6, 3], [5, 2], [4, 1]], 8: [[3, 6], [2, 5], [1, 4]]}


@pytest.mark.parametrize("orientation", SHOWN)
def test_the_eight_orientations(orientation):
  exif = Image.Exif()
  exif[0x0112] = orientation
  data = _file(np.array(SHOWN[1], np.uint8), "PNG", exif=exif)
  found = own_images.normalized(data, "a.png")
  assert own_images.pixels(data, "a.png")[..., 0].tolist() == SHOWN[orientation]
  assert tf.io.decode_png(found).numpy()[..., 0].tolist() == SHOWN[orientation]
  assert (found is data) == (orientation == 1)


def test_files_that_need_no_change_keep_their_bytes():
  upright = Image.Exif()
  upright[0x0112], upright[0x010F] = 1, "Maker"
  damaged = Image.Exif()
  damaged[0x0112] = 77
  for name in ("plain.jpg", "gray.jpg", "progressive.jpg", "plain.png", "palette.png",
               "one_bit.png"):
    assert own_images.is_plain(FILES[name][0]), name
  for exif in (upright, damaged):
    data = _file(RGB, "JPEG", exif=exif)
    assert own_images.normalized(data, "a.jpg") is data
  for name in NAMES:
    data = FILES[name][0]
    if own_images.is_plain(data):
      assert own_images.normalized(data, name) is data
    assert own_images.normalized(data, name)[:3] in (b"\xff\xd8\xff", b"\x89PN")
  # TensorFlow's decoder drops the alpha and the low bits, too.
  for name in ("alpha.png", "gray_alpha.png", "deep.png", "transparent.png", "frames.png"):
    assert own_images.normalized(FILES[name][0], name) is FILES[name][0], name


def _bomb(width: int, height: int) -> bytes:
  data = bytearray(_file(GRAY, "PNG"))
  data[16:24] = struct.pack(">II", width, height)
  data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
  return bytes(data)


@pytest.mark.parametrize("data, why", [
    (b"", "is empty"), (b"<html>", "begins with b'<html>'"),
    (b"\0\0\0\x18ftypheic\0\0\0\0", "is HEIC"), (FILES["turned.jpg"][0][:-30], "truncated"),
    (FILES["plain.webp"][0][:40], "cannot be decoded"), (FILES["deep.tif"][0][:200], "decoded"),
    (_bomb(12_000, 12_000), "has 12000 x 12000 pixels; at most 134217728"),
    (_bomb(60_000, 60_000), "at most 134217728 are read"),
    (_file(_halves(np.nan, 1, np.float32), "TIFF"), "no finite numbers")])
def test_what_cannot_be_decoded_is_named_in_one_line(data, why):
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    with pytest.raises(ValueError, match=why) as error:
      own_images.normalized(data, "folder/a.x")
  assert str(error.value).startswith("folder/a.x ") and "\n" not in str(error.value)


def test_each_entry_names_what_it_cannot_decode(tmp_path):
  (tmp_path / "x").mkdir()
  (tmp_path / "x/b.webp").write_bytes(_file(RGB, "ICO"))  # Pillow reads it, but no one here.
  with pytest.raises(ValueError, match=r"x/b\.webp is no image"):
    image_sources.from_directory(tmp_path, classes=["x"])
  with pytest.raises(ValueError, match="Image 1 of 'mine' is no image"):
    image_sources.from_huggingface([{"image": FILES["plain.png"][0], "label": 0},
                                    {"image": b"RIFF", "label": 0}])
  name = _prepared([("a", FILES["plain.png"][0]), ("b", b"RIFF")], tmp_path)
  with pytest.raises(ValueError, match="Image 'b' of data set 'own_pictures train' is no image"):
    image_sources.from_tfds(name, data_dir=str(tmp_path))


# TFDS stores the bytes of a float32 as colors, and a Tensor without a code.
@pytest.mark.parametrize("name, feature, pixels", [
    ("own_floats", tfds.features.Image(shape=(*SIZE, 1), dtype=np.float32),
     _halves((0.5,), (0.25,), np.float32)),
    ("own_tensors", tfds.features.Tensor(shape=(*SIZE, 1), dtype=np.uint8),
     _halves((128,), (64,)))])
def test_features_of_tfds_that_are_no_files(name, feature, pixels, tmp_path):
  class Own(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """One image."""
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
      return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
          "image": feature, "label": tfds.features.ClassLabel(num_classes=1)}))

    def _split_generators(self, dl_manager):
      return {"train": [(0, {"image": pixels, "label": 0})]}

    def _generate_examples(self):
      """Not used."""

  Own.name = name
  Own(data_dir=tmp_path).download_and_prepare()
  found = image_sources.from_tfds(name, data_dir=str(tmp_path)).pixels()
  np.testing.assert_array_equal(found, _halves((128,), (64,))[None])


def test_a_timeline_of_an_earlier_version_is_kept_if_its_images_are_the_same(tmp_path):
  (tmp_path / "t.csv").write_text("")

  def build(file, decode, **options):
    found = [tfds_builders.timelines.DatedImage(
        "bucket_01", "a", "x", folder / file, file,
        {"time": 0, "place": 0, **{f"iid_test_{s}": False for s in range(5)}})]
    contents = tfds_builders.timelines.of_files(
        found, class_names=["x"], files=[tmp_path / "t.csv"], facts={}, decode=decode)
    return tfds_builders.timelines.build(file.partition(".")[0], contents, tmp_path, **options)

  folder = tmp_path
  for name in ("plain.jpg", "turned.jpg"):
    (folder / name).write_bytes(FILES[name][0])
    build(name, None)
  build("plain.jpg", own_images.normalized)
  with pytest.raises(ValueError, match="earlier version, which decoded turned.jpg in another way"):
    build("turned.jpg", own_images.normalized)
  build("turned.jpg", own_images.normalized, again=True)
  build("turned.jpg", own_images.normalized)
