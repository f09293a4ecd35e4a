# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`python -m suite` is `suite`."""

import sys

from suite import cli

sys.exit(cli.main())
