"""Text in a control ↔ JSON value, for each kind of control. Pure, except for the reader's zone."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

from django.utils import timezone

from accounts.speech import later
from audit import canonical

_INTEGER = re.compile(r"[+-]?\d+", flags=re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", flags=re.ASCII)
MOST_DIGITS = 400


class Wrong(Exception):
    """What was typed is no value of this kind; the message says why."""


def shown(kind: str, value: object) -> str:
    """`value` as the text of a control. Text that no value of the kind can be is shown as JSON."""
    if kind in ("text", "long", "email", "date"):
        return _lines(value) if isinstance(value, str) else ""
    if kind == "moment":
        return _local(value)
    if kind == "boolean":
        return "" if value is None else str(value).lower()
    if kind == "json":
        return json.dumps(value, indent=2, ensure_ascii=False)
    return "" if value is None else json.dumps(value)


def read(kind: str, text: str) -> object:
    """The value that `text` stands for. Raises Wrong."""
    return _READERS[kind](text)


def _lines(text: str) -> str:
    """Browsers send every line end as CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def same(kind: str, text: str, value: object) -> bool:
    """Whether a control still says `value`, however a browser has written it."""
    first = shown(kind, value)
    if kind == "moment" and first and text:
        try:
            return datetime.fromisoformat(text) == datetime.fromisoformat(first)
        except (ValueError, TypeError):
            return False
    return _lines(text) == _lines(first)


def _text(text: str) -> str:
    if canonical.text(text) != text:
        raise Wrong(later("This contains characters that cannot be kept, such as NUL."))
    return _lines(text)


def _integer(text: str) -> int:
    text = text.strip()
    if not _INTEGER.fullmatch(text) or len(text) > MOST_DIGITS:
        raise Wrong(later("Write a whole number in digits only, such as 1200."))
    number = int(text)
    if abs(number) > canonical.SAFE_INTEGER:
        raise Wrong(later("This number is too large to be kept exactly."))
    return number


def _number(text: str) -> float:
    text = text.strip()
    if not _NUMBER.fullmatch(text) or len(text) > MOST_DIGITS:
        raise Wrong(later("Write a number with a point, such as 1200 or 12.50."))
    number = float(text)
    if not math.isfinite(number) or abs(number) > canonical.SAFE_INTEGER:
        raise Wrong(later("This number is too large to be kept exactly."))
    if Decimal(repr(number)) != Decimal(text):
        raise Wrong(later("This number has more digits than can be kept exactly."))
    return number


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Wrong(later("Choose Yes or No."))
    return text == "true"


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError as exc:
        raise Wrong(later("Write a date as year-month-day, such as 2026-01-31.")) from exc


def _moment(text: str) -> str:
    """The reader's wall clock becomes a moment with its offset."""
    try:
        typed = datetime.fromisoformat(text.strip())
    except ValueError as exc:
        raise Wrong(later("Write a date and a time, such as 2026-01-31T16:00.")) from exc
    if typed.tzinfo is not None:
        return typed.isoformat()
    moment = timezone.make_aware(typed)
    try:
        there_and_back = timezone.localtime(moment.astimezone(UTC))
    except OverflowError as exc:
        raise Wrong(later("Write a date and a time, such as 2026-01-31T16:00.")) from exc
    if there_and_back.replace(tzinfo=None) != typed:
        raise Wrong(later("Clocks jump over this time on that day. Choose another."))
    return moment.isoformat()


def _local(value: object) -> str:
    """A moment on the reader's clock; as it is where the calendar there does not have it."""
    if not isinstance(value, str):
        return ""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    if moment.tzinfo is None:
        return value
    try:
        local = timezone.localtime(moment).replace(tzinfo=None)
    except OverflowError:
        return value
    return local.isoformat(timespec="seconds")


def _json(text: str) -> object:
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except Wrong:
        raise
    except (ValueError, RecursionError) as exc:
        raise Wrong(
            later('This is not JSON: {exc}. Text needs quotes, such as "yes".', exc=exc)
        ) from exc
    return value


def _refuse(name: str) -> object:
    raise Wrong(later("{name} is not JSON.", name=name))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = dict(pairs)
    if len(found) != len(pairs):
        raise Wrong(later("A name stands twice in one object."))
    return found


_READERS: dict[str, Callable[[str], object]] = {
    "text": _text,
    "long": _text,
    "email": lambda text: _text(text).strip(),
    "date": _date,
    "moment": _moment,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "json": _json,
}
