"""`python -m obelics_pipeline` is `obelics`."""

import sys

from obelics_pipeline.cli import main

sys.exit(main())
