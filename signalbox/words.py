"""How times, durations, sizes and money read on a page. static/js/time.js says the same times."""

from __future__ import annotations

from datetime import datetime, timedelta

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩"}
"""Signs that stand for one currency where they are read. Others are written as their code."""
MINOR_DIGITS = {"BHD": 3, "CLP": 0, "ISK": 0, "JOD": 3, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3}
MINOR_DIGITS |= {"TND": 3, "UGX": 0, "VND": 0, "XAF": 0, "XOF": 0, "XPF": 0, "PYG": 0, "RWF": 0}
"""ISO 4217: digits after the point, where they are not two."""


def relative(moment: datetime, now: datetime) -> str:
    """ "3 min ago", "in 57 min", "just now"."""
    seconds = (moment - now).total_seconds()
    if abs(seconds) < 5:
        return "just now"
    amount = _roughly(abs(seconds))
    return f"in {amount}" if seconds > 0 else f"{amount} ago"


def _roughly(seconds: float) -> str:
    """Rounded half up, so that a deadline set a moment ago is the 24 h that it was set to."""
    if (count := _rounded(seconds)) < 60:
        return f"{count} s"
    if (count := _rounded(seconds / MINUTE)) < 60:
        return f"{count} min"
    if (count := _rounded(seconds / HOUR)) < 48:
        return f"{count} h"
    return f"{_rounded(seconds / DAY)} days"


def _rounded(number: float) -> int:
    return int(number + 0.5)


def duration(length: timedelta | float) -> str:
    """ "112 ms", "4.2 s", "41 s", "2m 14s", "5h 03m", "3d 4h", "2d". Seconds or a timedelta."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if seconds < 0:
        return f"\N{MINUS SIGN}{duration(-seconds)}"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE}m {whole % MINUTE:02}s"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02}m"
    hours = whole % DAY // HOUR
    return f"{whole // DAY}d {hours}h" if hours else f"{whole // DAY}d"


def size(count: int) -> str:
    """ "312 bytes", "64 KB", "2.1 MB"."""
    if count < 1024:
        return f"{count} bytes"
    if count < 1024 * 1024:
        return f"{count / 1024:.0f} KB"
    return f"{count / 1024 / 1024:.1f} MB"


def money(minor: int, currency: str) -> str:
    """12000 and "EUR" read as €120.00. Exact, whatever the size of the amount."""
    digits = MINOR_DIGITS.get(currency, 2)
    whole, part = divmod(abs(minor), 10**digits)
    amount = f"{whole:,}.{part:0{digits}}" if digits else f"{whole:,}"
    sign = "\N{MINUS SIGN}" if minor < 0 else ""
    symbol = SYMBOLS.get(currency)
    return f"{sign}{symbol}{amount}" if symbol else f"{sign}{amount} {currency}"
