"""The families of hostile inputs; every module of this folder is loaded, so that a new file is a new family."""

import importlib
import pkgutil

from families.family import Family

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"families.{_module}")

FAMILIES: dict[str, type[Family]] = dict(sorted(Family.members.items()))
