"""`python -m obelics_pipeline` is `obelics`."""

import sys

from obelics_pipeline.cli.main import main

sys.exit(main())
