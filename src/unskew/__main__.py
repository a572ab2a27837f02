"""Entry point: ``unskew`` and ``python -m unskew``."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. Ctrl-C during the imports also ends it without a traceback."""
    try:
        from unskew.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
