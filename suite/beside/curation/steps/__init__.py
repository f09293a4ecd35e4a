# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps of `suite curate`, each a folder with a manifest."""
