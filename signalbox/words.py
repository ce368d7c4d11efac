"""How times, durations, sizes and money read on a page, in the reader's language.

Scripts say the same relative times with the words of `of_scripts`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.formats import get_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from django.utils.translation import ngettext, pgettext

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

NOW = noop("just now")
SOON = {
    "s": noop("in {n} s"),
    "min": noop("in {n} min"),
    "h": noop("in {n} h"),
    "days": noop("in {n} days"),
}
AGO = {
    "s": noop("{n} s ago"),
    "min": noop("{n} min ago"),
    "h": noop("{n} h ago"),
    "days": noop("{n} days ago"),
}
"""By unit. Days are always two or more, and everything else is an abbreviation: no plurals."""

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩"}
"""Signs that stand for one currency where they are read. Others are written as their code."""
MINOR_DIGITS = {"BHD": 3, "CLP": 0, "ISK": 0, "JOD": 3, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3}
MINOR_DIGITS |= {"TND": 3, "UGX": 0, "VND": 0, "XAF": 0, "XOF": 0, "XPF": 0, "PYG": 0, "RWF": 0}
"""ISO 4217: digits after the point, where they are not two."""


def relative(moment: datetime, now: datetime) -> str:
    """ "3 min ago", "in 57 min", "just now"."""
    seconds = (moment - now).total_seconds()
    if abs(seconds) < 5:
        return _(NOW)
    unit, count = _roughly(abs(seconds))
    return _((SOON if seconds > 0 else AGO)[unit]).format(n=count)


def _roughly(seconds: float) -> tuple[str, int]:
    """Rounded half up, so that a deadline set a moment ago is the 24 h that it was set to."""
    if (count := _rounded(seconds)) < 60:
        return "s", count
    if (count := _rounded(seconds / MINUTE)) < 60:
        return "min", count
    if (count := _rounded(seconds / HOUR)) < 48:
        return "h", count
    return "days", _rounded(seconds / DAY)


def of_scripts() -> dict[str, str]:
    """What static/js/words.js gives to the other scripts, in the reader's language."""
    return {
        "now": _(NOW),
        **{f"in_{unit}": _(text) for unit, text in SOON.items()},
        **{f"ago_{unit}": _(text) for unit, text in AGO.items()},
        "stale": _("Not updated since {time}. Retrying."),
        "away": _("Signalbox cannot be reached. Try again in a moment."),
        "copied": _("Copied."),
        "uncopied": _("This browser did not allow copying."),
        "zone": _("Use {zone}, as this device does"),
    }


def _rounded(number: float) -> int:
    return int(number + 0.5)


def date_and_time(local: datetime, *, milliseconds: bool = False, twelve: bool = False) -> str:
    """ "2026-11-29 16:21:04", "2026-11-29 16:21:04.112", or "2026-11-29 4:21:04 pm"."""
    # Translators: strftime: a date and a time with seconds
    form = pgettext("strftime", "%Y-%m-%d %H:%M:%S")
    return local.strftime(_clock(form, local, milliseconds=milliseconds, twelve=twelve))


def time_of_day(local: datetime, *, milliseconds: bool = False, twelve: bool = False) -> str:
    """ "16:21:04", "16:21:04.112", or "4:21:04.112 pm"."""
    return local.strftime(_clock("%H:%M:%S", local, milliseconds=milliseconds, twelve=twelve))


def _clock(form: str, local: datetime, *, milliseconds: bool, twelve: bool) -> str:
    seconds = f"%S.{local.microsecond // 1000:03}" if milliseconds else "%S"
    if twelve:
        form = form.replace("%H", str(local.hour % 12 or 12))
        seconds += " am" if local.hour < 12 else " pm"
    return form.replace("%S", seconds)


def date_and_minute(local: datetime) -> str:
    """ "2026-11-29 16:21"."""
    # Translators: strftime: a date and a time without seconds
    return local.strftime(pgettext("strftime", "%Y-%m-%d %H:%M"))


def duration(length: timedelta | float) -> str:
    """ "112 ms", "4.2 s", "41 s", "2m 14s", "5h 03m", "3d 4h", "2d". Seconds or a timedelta.

    Where the clocks of two machines differ, an end may lie before its start: that took no time.
    """
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    seconds = max(seconds, 0)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{number_format(f'{seconds:.1f}')} s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    return _long(whole)


def _long(whole: int) -> str:
    """Two units of a minute or more."""
    if whole < HOUR:
        return _("{m}m {s}s").format(m=whole // MINUTE, s=f"{whole % MINUTE:02}")
    if whole < DAY:
        return _("{h}h {m}m").format(h=whole // HOUR, m=f"{whole % HOUR // MINUTE:02}")
    hours = whole % DAY // HOUR
    return (_("{d}d {h}h") if hours else _("{d}d")).format(d=whole // DAY, h=hours)


def size(count: int) -> str:
    """ "312 bytes", "64 KB", "2.1 MB"."""
    if count < 1024:
        return ngettext("{count} byte", "{count} bytes", count).format(count=count)
    if count < 1024 * 1024:
        return f"{count / 1024:.0f} KB"
    return f"{number_format(f'{count / 1024 / 1024:.1f}')} MB"


def money(minor: int, currency: str) -> str:
    """12000 and "EUR" read as €120.00. Exact, whatever the size of the amount."""
    digits = MINOR_DIGITS.get(currency, 2)
    whole, part = divmod(abs(minor), 10**digits)
    amount = f"{whole:,}".replace(",", get_format("THOUSAND_SEPARATOR"))
    if digits:
        amount += f"{get_format('DECIMAL_SEPARATOR')}{part:0{digits}}"
    sign = "\N{MINUS SIGN}" if minor < 0 else ""
    symbol = SYMBOLS.get(currency)
    if symbol is None:
        return f"{sign}{amount} {currency}"
    return sign + pgettext("money", "{symbol}{amount}").format(symbol=symbol, amount=amount)
