# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Wings beside the core, which nothing of the core imports: it finds them by entry points."""
