"""Places in a small plot inside a table's cell."""

from collections.abc import Callable, Iterable

WIDTH, EDGE = 130, 5
"""Width of the plot, and its margin."""


def plot_scale(numbers: Iterable[float | None]) -> Callable[[float], float]:
    """A function from a number to its place in the plot, which has room for all of the given ones."""
    known = [number for number in numbers if number is not None]
    low, width = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    return lambda value: round(EDGE + (WIDTH - 2 * EDGE) * ((value - low) / width if width > 0 else 0.5), 1)
