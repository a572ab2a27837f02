"""`audit`: how skewed a log is, and how wrong an evaluation on it can be.

The package itself can be called: ``unskew.audit(log)`` is ``unskew.audit.audit(log)``, in whatever order they were
imported.
"""

import sys
from types import ModuleType

from unskew.audit.audit import audit
from unskew.audit.result import Audit

__all__ = ["Audit", "audit"]


__wrapped__ = audit  # the package shows its signature


class _CallablePackage(ModuleType):
    """A package with the name of its main function, which importing the package must not hide."""

    __call__ = staticmethod(audit)


sys.modules[__name__].__class__ = _CallablePackage
