"""Entry point: ``unskew`` and ``python -m unskew``."""

from unskew.cli import main

if __name__ == "__main__":
    main()
