# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An accuracy cache that follows a folder of logs, and its page."""
