"""How the numbers of a study are written, on the screen and on the page."""

COUNT, LARGE = 100, 1000  # whole numbers are counts from here on, others need fewer digits
ROUNDING = 1e-12  # a difference below it is that of the last bits
SMALL = 5e-4


def written_number(value: float | None, sign: str = "") -> str:
    """Four digits after the point, more for what is small, fewer for what is large; a dash for nothing.

    Parameters
    ----------
    value : float or None
    sign : str
        ``+`` to show the sign of positive numbers too.

    Examples
    --------
    >>> from unskew.studies.numbers import written_number
    >>> written_number(0.25), written_number(16980.0), written_number(2e-5), written_number(None)
    ('0.2500', '16,980', '2.0e-05', '-')
    """
    if value is None:
        return "-"
    if abs(value) < ROUNDING:
        value = 0.0
    if abs(value) >= COUNT and value == round(value):
        return f"{value:{sign},.0f}"
    if abs(value) >= LARGE:
        return f"{value:{sign},.1f}"
    return f"{value:{sign}.4f}" if abs(value) >= SMALL or value == 0 else f"{value:{sign}.1e}"
