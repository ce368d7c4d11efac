"""JSON Schema: as it is kept, and what is wrong with a value.

1. A schema comes from an agent's code: a dict is taken as it is, a Python type becomes the JSON
   Schema that pydantic makes of it. What cannot become one allows nothing.
2. Nothing is fetched: a reference to another document is a broken schema.
3. Formats are checked, too: date, date-time, time, email, uri, uuid, ipv4, ipv6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_noop as noop
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.exceptions import ValidationError as Invalid
from jsonschema.validators import extend, validator_for
from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from referencing import Registry
from referencing.exceptions import Unresolvable

from accounts.speech import later as _
from audit import canonical

Schema: TypeAlias = Mapping[str, Any]  # Any: JSON of every kind

ALLOWS_NOTHING: Schema = {"not": {}}
MOST_PROBLEMS = 20
"""Sentences about one value; more help nobody."""
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", flags=re.ASCII
)
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", flags=re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")

formats = FormatChecker(formats=("uuid", "ipv4", "ipv6", "regex"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with one part of a value."""

    path: tuple[str | int, ...]
    """Keys and positions from the whole to the part; empty: the whole."""
    message: str
    quotes: bool = False
    """The message may repeat what was entered."""

    @property
    def sentence(self) -> str:
        """With the place, where a sentence stands alone."""
        where = ".".join(map(str, self.path))
        return f"{where}: {self.message}" if where else self.message


def of(given: object) -> Schema | None:
    """The JSON Schema that an agent means by `given`; None if it gave none."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        try:
            given = _adapter(given).json_schema()
        except (PydanticUserError, TypeError, ValueError, RecursionError):
            return ALLOWS_NOTHING
    shown = canonical.visible(given)
    return shown if isinstance(shown, dict) else ALLOWS_NOTHING


def _adapter(given: Any) -> TypeAdapter[Any]:  # Any: whatever an agent takes for a type
    return TypeAdapter(given)


def same(one: Schema | None, other: Schema | None) -> bool:
    """Whether two schemas as they are kept are one and the same."""
    if one is None or other is None:
        return one is other
    return canonical.fingerprint(one) == canonical.fingerprint(other)


def broken(schema: Schema) -> str:
    """Why nothing can be checked by this schema; empty if something can."""
    if schema == ALLOWS_NOTHING:
        return _("The agent gave a type that has no JSON Schema.")
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(dict(schema))
        for _error in _errors(schema, None):
            break
    except SchemaError as exc:
        return _("The agent's schema is not a JSON Schema: {message}.", message=exc.message)
    except (Unresolvable, RecursionError, re.error) as exc:
        return _("The agent's schema cannot be applied: {first_line}.", first_line=_first_line(exc))
    return ""


def problems(schema: Schema, value: object) -> list[Problem]:
    """What is wrong with `value`, at most one sentence for each of its parts."""
    found: dict[tuple[str | int, ...], Problem] = {}
    try:
        for error in _errors(schema, value):
            for problem in _explained(error):
                found.setdefault(problem.path, problem)
            if len(found) >= MOST_PROBLEMS:
                break
    except (Unresolvable, RecursionError, re.error) as exc:
        message = _(
            "The agent's schema cannot be applied: {first_line}.", first_line=_first_line(exc)
        )
        found[()] = Problem(path=(), message=message)
    return list(found.values())


def _errors(schema: Schema, value: object) -> Iterator[Invalid]:
    kind = _strict(validator_for(schema, default=Draft202012Validator))
    # An empty registry: the library would otherwise fetch documents that a schema refers to.
    yield from kind(schema, registry=Registry(), format_checker=formats).iter_errors(value)


@cache
def _strict(kind: Any) -> Any:  # Any: the library's validators are classes made at run time
    """1.0 is an integer to JSON Schema, but an agent that wants an int would get a float."""
    types = kind.TYPE_CHECKER.redefine("integer", lambda _kind, value: type(value) is int)
    return extend(kind, type_checker=types)  # type: ignore[no-untyped-call]  # of the library


def _first_line(exc: Exception) -> str:
    words = str(exc) or type(exc).__name__
    return words.splitlines()[0][:200].rstrip(".")


# --- in words -------------------------------------------------------------------------------------


def _explained(error: Invalid) -> Iterator[Problem]:
    path = tuple(error.absolute_path)
    if error.validator == "required" and isinstance(error.instance, dict):
        for name in _listed(error.validator_value):
            if name not in error.instance:
                yield Problem(path=(*path, str(name)), message=_("This is required."))
    elif error.context:
        branch = _meant(error.context)
        if not branch:
            yield Problem(path=path, message=_("This fits none of the forms that are allowed."))
        for inner in branch:
            yield from _explained(inner)
    else:
        yield Problem(
            path=path,
            message=_sentence(error),
            quotes=str(error.validator) not in _SENTENCES,
        )


def _meant(context: Iterable[Invalid]) -> list[Invalid]:
    """The errors of the one alternative that the value was meant for; empty if that is unclear."""
    branches: dict[object, list[Invalid]] = {}
    for error in context:
        branches.setdefault(error.schema_path[0], []).append(error)
    near = [
        errors
        for errors in branches.values()
        if not any(each.validator in ("const", "enum", "type") for each in errors)
    ]
    return near[0] if len(near) == 1 else []


def _sentence(error: Invalid) -> str:
    say = _SENTENCES.get(str(error.validator))
    return say(error.validator_value) if say else _capital(error.message)


def _capital(message: str) -> str:
    message = message if len(message) <= 300 else f"{message[:299]}…"
    return f"{message[:1].upper()}{message[1:]}."


def _with(text: str, value: object) -> str:
    return _(text, value=value)


def _counted(one: str, many: str, number: object) -> str:
    return _(one if number == 1 else many, value=number)


def _type(wanted: object) -> str:
    names = [wanted] if isinstance(wanted, str) else [str(each) for each in _listed(wanted)]
    kinds = _(" or ").join(str(_NAMES.get(name, name)) for name in names)
    return _("This must be {kinds}.", kinds=kinds)


def _listed(wanted: object) -> Iterable[object]:
    return wanted if isinstance(wanted, list) else ()


_NAMES = {
    "string": "text",
    "integer": _("a whole number"),
    "number": "a number",
    "boolean": _("yes or no"),
    "array": "a list",
    "object": _("an object"),
    "null": "null",
}
_SENTENCES: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "minimum": partial(_with, noop("This must be at least {value}.")),
    "maximum": partial(_with, noop("This must be at most {value}.")),
    "exclusiveMinimum": partial(_with, noop("This must be more than {value}.")),
    "exclusiveMaximum": partial(_with, noop("This must be less than {value}.")),
    "multipleOf": partial(_with, noop("This must be a multiple of {value}.")),
    "pattern": partial(_with, noop("This must have the form {value}")),
    "format": lambda name: {
        "email": _("This is not an e-mail address."),
        "date": _("This is not a date, such as 2026-01-31."),
        "date-time": _("This is not a date with a time and a zone, such as 2026-01-31T16:00:00Z."),
    }.get(name, _("This is not of the form {name}.", name=name)),
    "minLength": partial(
        _counted,
        noop("This needs at least {value} character."),
        noop("This needs at least {value} characters."),
    ),
    "maxLength": partial(
        _counted,
        noop("This may have at most {value} character."),
        noop("This may have at most {value} characters."),
    ),
    "minItems": partial(_with, noop("At least {value} are needed.")),
    "maxItems": partial(_with, noop("At most {value} are allowed.")),
    "uniqueItems": lambda _value: _("No two of these may be equal."),
    "enum": lambda _value: _("Choose one of the values that are allowed."),
    "const": partial(_with, noop("This must be {value!r}.")),
    "not": lambda _value: _("This value is not allowed."),
    "minProperties": partial(_with, noop("This needs at least {value} fields.")),
    "maxProperties": partial(_with, noop("This may have at most {value} fields.")),
}


# --- formats --------------------------------------------------------------------------------------


@formats.checks("date-time")
def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return True
    if not _MOMENT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True


@formats.checks("date")
def _is_date(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


@formats.checks("time")
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or _TIME.fullmatch(value) is not None


@formats.checks("email")
def _is_email(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        validate_email(value)
    except ValidationError:
        return False
    return True


@formats.checks("uri")
def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        return _SCHEME.fullmatch(urlsplit(value).scheme) is not None and " " not in value
    except ValueError:
        return False
