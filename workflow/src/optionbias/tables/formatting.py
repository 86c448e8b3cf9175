"""How numbers stand in a table that people read; the CSV keeps every digit."""

from math import isfinite, log10

DIGITS = 3
UNDEFINED = "–"
# Smaller estimates get further digits, up to this many, so that they do not all read 0.000.
MOST_DIGITS = 6
SMALLEST_P = 0.001


def format_number(value: float | None, digits: int = DIGITS) -> str:
    """Return a number with ``digits`` decimals, with more if it would lose its first two digits.

    Null and NaN give a dash. A negative number has a true minus sign, and what
    rounds to zero has none.
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    return _fixed(value, _decimals(value, digits))


def format_estimate(
    value: float | None, low: float | None, high: float | None, digits: int = DIGITS
) -> str:
    """Return ``estimate [low, high]`` with the same decimals in all three numbers.

    An undefined estimate gives a dash; an estimate without an interval says so.
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    decimals = _decimals(value, digits)
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return f"{_fixed(value, decimals)} [no interval]"
    return f"{_fixed(value, decimals)} [{_fixed(low, decimals)}, {_fixed(high, decimals)}]"


def format_interval(
    value: float | None, low: float | None, high: float | None, digits: int = DIGITS
) -> str:
    """Return ``[low, high]`` with the decimals of its estimate, a dash where any is undefined."""
    ends = _ends(value, low, high, digits)
    return f"[{', '.join(ends)}]" if ends else UNDEFINED


def format_range(
    value: float | None, low: float | None, high: float | None, digits: int = DIGITS
) -> str:
    """Return ``low to high``, so that a range does not look like a confidence interval."""
    return " to ".join(_ends(value, low, high, digits)) or UNDEFINED


def format_p(value: float | None) -> str:
    """Return a p-value with three decimals, small ones as ``<0.001``, null as a dash."""
    if value is None or not isfinite(value):
        return UNDEFINED
    return f"<{SMALLEST_P}" if value < SMALLEST_P else f"{value:.{DIGITS}f}"


def format_count(value: int | float | None) -> str:
    """Return a count with thousands apart (``1,319``), null as a dash; halves keep a decimal."""
    if value is None:
        return UNDEFINED
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _ends(
    value: float | None, low: float | None, high: float | None, digits: int
) -> tuple[str, ...]:
    if value is None or low is None or high is None:
        return ()
    if not (isfinite(value) and isfinite(low) and isfinite(high)):
        return ()
    decimals = _decimals(value, digits)
    return _fixed(low, decimals), _fixed(high, decimals)


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if float(text) == 0.0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def _decimals(value: float, digits: int) -> int:
    if value == 0.0:
        return digits
    # Decimals that show two significant digits of this value.
    needed = 1 - int(log10(abs(value)) // 1)
    return min(max(digits, needed), MOST_DIGITS)
