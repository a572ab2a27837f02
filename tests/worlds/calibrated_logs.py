"""Small logs of known worlds, to calibrate to."""

from unskew.data import Interactions
from unskew.simulators.ibp import Ibp

TRUE = Ibp(users=120, observe="popular", sizes="pareto(scale=6, shape=1, upper=60)", alpha=40, c=2, sigma=0.3)
FEW = {"singles": 4, "joint": 2, "starts": 3, "threads": 1}


def small_log(seed: int = 0) -> Interactions:
    return TRUE.log(seed)
