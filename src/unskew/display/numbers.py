"""Numbers as text: on the terminal with a hyphen, on a page (see `page`) with a real minus sign."""

from typing import Any

ROUNDING = 1e-9  # a share this near to 1 is 1
SMALLEST_P = 1e-4  # p-values below it are not written out


def number(value: float | None, form: str = ".4f", none: str = "undefined") -> str:
    """A number in this format, or a word where there is none."""
    return none if value is None else f"{value:{form}}"


def interval(low: float | None, high: float | None, form: str = ".4f", none: str = "undefined") -> str:
    """Both ends of an interval, or a word where one is missing."""
    return none if low is None or high is None else f"{low:{form}} to {high:{form}}"


def one_or_both(low: str, high: str, between: str = " to ") -> str:
    """Both ends of a range that are texts already, or one of them where they read the same."""
    return low if low == high else f"{low}{between}{high}"


def short(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def level(share: float, unit: str = " %") -> str:
    """A level of intervals in percent, with as many decimals as it has."""
    return f"{100 * share:.4g}{unit}"


def p(value: float | None, none: str = "-") -> str:
    """A p-value with four decimals."""
    return "<0.0001" if value is not None and value < SMALLEST_P else number(value, none=none)


def p_is(value: float) -> str:
    """A p-value for a sentence: two digits, and never 0.

    Examples
    --------
    >>> p_is(0.034), p_is(1e-7)
    ('p = 0.034', 'p < 0.0001')
    """
    return "p < 0.0001" if value < SMALLEST_P else f"p = {value:.2g}"


def move(value: float | None, none: str = "-") -> str:
    """Four decimals with their sign; zero, and what rounds to it, has none."""
    text = number(value, "+.4f", none)
    return text if value is None else "0" if value == 0 else "0.0000" if float(text) == 0 else text


def plain(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(part)}" for name, part in value.items()) or "–"
    return "–" if value is None else str(value)


def minus(text: str) -> str:
    """The text with real minus signs."""
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A short number, of at most two decimals, with a real minus sign."""
    return minus(f"{round(value, 2):g}")


def rounded(value: float) -> str:
    """Three decimals, or two digits if it is smaller, with a real minus sign."""
    return minus(f"{value:.2g}" if value != 0 and abs(value) < 0.01 else f"{value:.3f}")


def factor(value: float) -> str:
    """A factor of at least 1, with enough digits to see that it is above 1."""
    return f"{value:.2f}" if value < 10 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share for a sentence: whole percents, one decimal near the ends, and never 0 for something or 100 for less."""
    if share == 0 or 0.0995 <= share < 0.995 or share > 1 - ROUNDING:
        return f"{100 * share:.0f} %"
    if share >= 0.9995:
        return "more than 99.9 %"
    return "less than 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %".replace(".0 %", " %")


def percent_or_dash(share: float | None) -> str:
    """The same for a cell that may be empty."""
    return "–" if share is None else percent(share)


def percent_cell(share: float | None) -> str:
    """A share for a table of a page: one decimal."""
    if share is None:
        return "–"
    return "0" if share == 0 else ("<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %")


def short_percent(share: float | None) -> str:
    """A share for a narrow table of the terminal: whole percents from 10 on, and no blank."""
    if share is not None and 0 < share < 0.0005:
        return "<0.1%"
    return "-" if share is None else f"{100 * share:.{0 if share >= 0.0995 or share == 0 else 1}f}%"


def rough_percent(share: float) -> str:
    """A share that may exceed 1 or be negative: whole percents from 10 on."""
    return f"{100 * share:,.0f} %" if abs(share) >= 0.1 or share == 0 else f"{100 * share:.1f} %"


COUNT, LARGE, LAST_BITS, SMALL = 100, 1000, 1e-12, 5e-4


def written_number(value: float | None, sign: str = "") -> str:
    """Four decimals, more for a small number and fewer for a large one; a dash for None.

    Whole numbers from 100 on are counts, and a difference below 1e-12 is that of the last bits.

    Parameters
    ----------
    value : float or None
    sign : str
        ``+`` to show the sign of positive numbers too.

    Examples
    --------
    >>> from unskew.display.numbers import written_number
    >>> written_number(0.25), written_number(16980.0), written_number(2e-5), written_number(None)
    ('0.2500', '16,980', '2.0e-05', '-')
    """
    if value is None:
        return "-"
    if abs(value) < LAST_BITS:
        value = 0.0
    if abs(value) >= COUNT and value == round(value):
        return f"{value:{sign},.0f}"
    if abs(value) >= LARGE:
        return f"{value:{sign},.1f}"
    return f"{value:{sign}.4f}" if abs(value) >= SMALL or value == 0 else f"{value:{sign}.1e}"
