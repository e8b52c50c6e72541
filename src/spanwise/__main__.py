"""`python -m spanwise` is the command `spanwise`."""

import sys

from spanwise.cli import main

if __name__ == "__main__":  # a worker process imports this file too
    sys.exit(main())
