# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: VisTex reference textures."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import linked_textures
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "vistex",
    title="VisTex reference textures",
    layouts=(Layout(
        linked_textures,
        files=(File("VisTex.tar.gz", "http://vismod.media.mit.edu/pub/VisTex/VisTex.tar.gz",
                    ("md5:f176ad5c9383141f981e3668b232add7",)),)),),
    splits=splits.POOLED,
    paper_size=125,
    num_classes=19,
    channels=3,
    version="2.0.0",
    homepage="https://vismod.media.mit.edu/vismod/imagery/VisionTexture/vistex.html",
    license="free for research",
    notes="Some classes have very few images and may be missing in a split. The reference takes "
          "images in the order of the file system, so its draw cannot be reproduced. 19 classes "
          "are expected; this was not checked on the archive.",
    citation="""@misc{picard1995vistex,
  title={Vision texture database},
  author={Picard, Rosalind and Graczyk, Chris and Mann, Steve and others},
  howpublished={Media Laboratory, MIT},
  year={1995}
}""")
