"""Torch, or the reason why tests that need it are skipped."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
