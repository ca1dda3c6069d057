"""The command ``mcbo``, which comes with the package: ``mcbo --help`` or ``python -m mcbo --help``."""

from __future__ import annotations

import signal
import sys

from mcbo._mcbo import command


def main() -> int:
    """Runs the command line of this process."""
    # The command has its own way with Ctrl-C; Python would only take note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
