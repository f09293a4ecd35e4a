# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Small prepared TFDS data sets for the tests of this folder."""

import tfds_pictures

pictures_dir = tfds_pictures.pictures_dir
