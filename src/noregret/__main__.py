"""`python -m noregret`."""

import sys

from noregret.cli import main

if __name__ == "__main__":
    sys.exit(main())
