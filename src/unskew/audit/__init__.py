"""How skewed a log is, and how wrong an evaluation on it can be.

The package itself can be called: ``unskew.audit(log)`` is ``unskew.audit.audit(log)``, whichever of the two was
imported first.
"""

import sys
from types import ModuleType

from unskew.audit.audit import audit
from unskew.audit.result import Audit

__all__ = ["Audit", "audit"]


__wrapped__ = audit  # whose signature is shown for the package


class _CallablePackage(ModuleType):
    """A package named as its main function; importing it must not hide that function."""

    __call__ = staticmethod(audit)


sys.modules[__name__].__class__ = _CallablePackage
