"""The command line: parse, one call into the library, print."""

from unskew.cli.app import main

__all__ = ["main"]
