"""Worlds whose truth is known, one file each."""

from unskew.simulators.marketplace import Marketplace
from unskew.simulators.world import World, WorldModel, logistic, solve_offset

__all__ = ["Marketplace", "World", "WorldModel", "logistic", "solve_offset"]
