# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A builder's memory does not grow with its archive.

A 20 GiB archive scaled down by 70: an archive of 280 MB under bounds of 1 MB a spool file and 16
MB in TFDS's shuffler (64 MB and 1 GB in use). The peak may exceed that of
TensorFlow alone by half the archive; a builder that kept the images would exceed it.
"""

_BUILD = """
import dataclasses, pathlib, resource, struct, sys, zlib
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import shuffle
import tfds_builders
from tfds_builders import spool, testing
from tfds_builders.parsers import example, images
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.face import olivetti_face

SIDE, NUM = 180, {num}

def peak_mb():
  return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

class Parser:
  @staticmethod
  def parse(paths):
    # Noise: it does not compress, 97 kB an image. A comment before its last chunk tells one from
    # another without compressing each.
    noise = images.png(np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8))
    for index in range(NUM):
      body = b"tEXtComment\\0%06d" % index
      chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
      image = noise[:-12] + chunk + noise[-12:]
      yield example.Example("all", f"{{index:06d}}", index % 40, image, "noise")

spool._MEMORY_BYTES = 1 << 20
shuffle.MAX_MEM_BUFFER_SIZE = 16 << 20
folder = pathlib.Path(sys.argv[1])
(folder / "x").write_text("")
row = dataclasses.replace(olivetti_face.ROW, class_names=None, channels=3, layouts=(
    row_lib.Layout(Parser, (row_lib.File("x"),)),))
with testing.installed(row, folder):
  images.unreadable([(images.png(np.zeros((SIDE, SIDE, 3), np.uint8)), "warm")] * 256, 3)
  before = peak_mb()
  builder = tfds_builders.build("nevis/olivetti_face", folder / "data")
print("RESULT", before, peak_mb(), builder.info.dataset_size >> 20,
      sum(split.num_examples for split in builder.info.splits.values()))
"""


def test_memory_stays_bounded_while_the_archive_does_not(tmp_path, python):
  done = python.run(["-c", _BUILD.format(num=3000), str(tmp_path)])
  assert done.returncode == 0, done.stderr
  result = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
  before, peak, archive, num_examples = (int(value) for value in result.split()[1:])
  assert num_examples == 3000 and archive > 270
  assert peak - before < archive / 2, f"{peak - before} MB for an archive of {archive} MB"
