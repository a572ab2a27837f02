"""The array types that travel between the layers."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "Matrix", "SeedLike"]

Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
SeedLike: TypeAlias = int | np.random.Generator
