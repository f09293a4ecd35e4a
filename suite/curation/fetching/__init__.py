# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images of lists of URLs, such as those of CLEAR's unlabelled images."""
