"""Reads the environment loudly: a value that cannot be meant stops the start and says which it is.

django-environ by itself takes "yess" for false, makes an empty text of a number it cannot read, and
looks elsewhere for a secret that begins with a dollar sign.
"""

from __future__ import annotations

import base64
import difflib
import json
import logging
import math
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

WORDS = {"true": True, "yes": True, "on": True, "1": True} | {
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class Env(environ.Env):  # type: ignore[misc]  # the package has no types
    """`env.str`, `env.int`, `env.float`, `env.bool`, `env.list` and the addresses, read strictly.

    Numbers and switches that are set to nothing count as not set.
    """

    def __init__(self, **scheme: Any) -> None:
        super().__init__(**scheme)
        self.asked: set[str] = set()

    def get_value(
        self,
        var: str,
        cast: object = None,
        default: Any = environ.Env.NOTSET,
        parse_default: bool = False,
    ) -> Any:
        """The variable's value. Raises ImproperlyConfigured."""
        self.asked.add(var)
        if cast not in READERS:  # addresses
            return super().get_value(var, cast, default, parse_default)
        read, what = READERS[cast]
        value = self.ENVIRON.get(var)
        if value is None or (not value.strip() and cast not in TEXTS):
            if default is self.NOTSET:
                raise ImproperlyConfigured(f"{var} is not set. Set it to {what}.")
            return default
        try:
            return read(value)
        except (ValueError, KeyError) as error:
            raise ImproperlyConfigured(
                f"{var} is {value!r}, but must be {what}. Correct it, or leave it out."
            ) from error

    def seconds(self, var: str, default: float) -> timedelta:
        """A length of time above 0."""
        return timedelta(seconds=self.get_value(var, cast=_above_0, default=default))

    def days(self, var: str) -> timedelta | None:
        """A number of days above 0; None if it is not set."""
        found = self.get_value(var, cast=_above_0, default=None)
        return None if found is None else timedelta(days=found)

    def count(self, var: str, default: int, *, least: int = 1) -> int:
        """A whole number, 1 or above; with `least=0` 0 or above."""
        found: int = self.get_value(var, cast=_from_1 if least else _from_0, default=default)
        return found

    def level(self, var: str, default: str) -> str:
        """The name of a level of the log."""
        found: str = self.get_value(var, cast=_level, default=default)
        return found

    def one_of(self, var: str, known: tuple[str, ...]) -> str:
        """One of these words; by default the first."""
        said: str = self.str(var, default=known[0])
        if said not in known:
            raise ImproperlyConfigured(f"{var} is {said!r}. Use one of: {', '.join(known)}.")
        return said

    def http_url(self, var: str, default: str) -> str:
        """An address that begins with http:// or https:// and names a host."""
        found: str = self.get_value(var, cast=_http_url, default=default)
        return found

    def secret(self, var: str, *, least: int) -> str:
        """A secret of at least so many characters, or empty. No error repeats the value."""
        found: str = self.str(var, default="")
        if 0 < len(found) < least:
            raise ImproperlyConfigured(
                f"{var} has {len(found)} characters, but needs at least {least} that nobody can"
                " guess. Make a longer one, or leave it out to have one made."
            )
        return found

    def signing_key(self, var: str) -> str:
        """The base64 of a key's 32 bytes, or empty. No error repeats the value."""
        found: str = self.str(var, default="").strip()
        if found and not _is_key(found):
            raise ImproperlyConfigured(
                f"{var} must be 32 random bytes in base64. Make one with manage.py audit_key --new,"
                " or leave it out to have one made."
            )
        return found

    def public_keys(self, var: str) -> list[str]:
        """Public keys, with commas between."""
        found: list[str] = self.list(var, default=[])
        for key in found:
            if not _is_key(key):
                raise ImproperlyConfigured(
                    f"{var} holds {key!r}, which is no public key as manage.py audit_key prints it."
                    " Correct it, or leave it out."
                )
        return found

    def postgres_url(self, var: str, default: str, *, options: str = "") -> dict[str, Any]:
        """Django's settings for a database. No error repeats the value: it may hold a password.

        `options` is what the server is told of every connection, as `-c name=value`. It comes
        after what the address has of that kind, so it wins where both name the same.
        """
        address = self.str(var, default="") or default
        try:
            # Read by hand first: django-environ takes what it does not know for SQLite or nothing.
            parts = urlsplit(address)
            known = parts.scheme in POSTGRES and parts.path.strip("/") and parts.port != 0
            found: dict[str, Any] = self.db_url_config(address) if known else {}
        except ValueError:
            found = {}
        if not found:
            raise ImproperlyConfigured(
                f"{var} must be an address of PostgreSQL 14 or newer, as"
                " postgres://user:password@host:5432/name. Correct it, or leave it out."
            )
        if options:
            more = found.setdefault("OPTIONS", {})
            more["options"] = f"{more.get('options', '')} {options}".strip()
        return found

    def mail_url(self, var: str, default: str) -> dict[str, Any]:
        """Django's settings for outgoing mail. No error repeats the value."""
        try:
            found: dict[str, Any] = self.email_url_config(self.str(var, default="") or default)
        except (ImproperlyConfigured, ValueError) as error:
            raise ImproperlyConfigured(
                f"{var} must be an address such as smtp+tls://user:password@host:587, or"
                " consolemail:// to write mail to the log. Correct it, or leave it out."
            ) from error
        return found

    def unknown(self, *prefixes: str) -> dict[str, str]:
        """Variables that begin like ours and that nothing has asked for, with the nearest name."""
        strange = (
            name for name in self.ENVIRON if name.startswith(prefixes) and name not in self.asked
        )
        return {name: _nearest(name, self.asked) for name in sorted(strange)}

    def addresses(self, var: str) -> dict[str, str]:
        """A JSON object of names and addresses, which are secrets: no error repeats the value."""
        text = self.str(var, default="")
        try:
            read = json.loads(text or "{}")
        except ValueError:
            read = None
        if not isinstance(read, dict) or not all(
            isinstance(value, str) and value for value in read.values()
        ):
            raise ImproperlyConfigured(
                f'{var} must be a JSON object of names and addresses: {{"name": "https://…"}}.'
                " Correct it, or leave it out."
            )
        return read

    def pauses(self, var: str) -> dict[str, timedelta]:
        """A JSON object of names and seconds, which are above zero."""
        try:
            read = json.loads(self.str(var, default="") or "{}")
            found = {name: timedelta(seconds=seconds) for name, seconds in read.items()}
        except (ValueError, AttributeError, TypeError, OverflowError):
            found = {"": timedelta(0)}
        if any(pause <= timedelta(0) for pause in found.values()):
            raise ImproperlyConfigured(
                f'{var} must be a JSON object of names and seconds above zero: {{"crm": 0.5}}.'
                " Correct it, or leave it out."
            )
        return found

    def channels(self, var: str) -> dict[str, list[str]]:
        """A JSON object of groups and one address or a list of them, which are secrets as well."""
        text = self.str(var, default="")
        try:
            read = json.loads(text or "{}")
            found = {
                name: [held] if isinstance(held, str) else list(held) for name, held in read.items()
            }
        except (ValueError, AttributeError, TypeError):
            found = {"": [""]}
        if not all(isinstance(each, str) and each for held in found.values() for each in held):
            raise ImproperlyConfigured(
                f'{var} must be a JSON object of groups and addresses: {{"finance": ["slack://…"]}}.'
                " Correct it, or leave it out."
            ) from None
        return found

    def secrets(self, var: str) -> dict[str, list[str]]:
        """A JSON object of names and one secret or a list of them. No error repeats the value."""
        text = self.str(var, default="")
        try:
            read = json.loads(text or "{}")
            found = {
                name: [held] if isinstance(held, str) else list(held) for name, held in read.items()
            }
        except (ValueError, AttributeError, TypeError):
            found = {"": [""]}
        if not all(
            held and all(isinstance(each, str) and len(each) >= SHORTEST for each in held)
            for held in found.values()
        ):
            raise ImproperlyConfigured(
                f'{var} must be a JSON object of names and secrets: {{"name": ["…"]}}, each of at'
                f" least {SHORTEST} characters. Correct it, or leave it out."
            ) from None
        return found


def _nearest(name: str, known: Collection[str]) -> str:
    """The known name that `name` is most like; empty if none is near."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.8)), "")


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == KEY_LENGTH
    except ValueError:
        return False


def _number(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(text)
    return number


def _above_0(text: str) -> float:
    number = _number(text)
    if not number:
        raise ValueError(text)
    return number


def _from_0(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _from_1(text: str) -> int:
    number = _from_0(text)
    if not number:
        raise ValueError(text)
    return number


def _level(text: str) -> str:
    return LEVELS[text.strip().upper()]


def _http_url(text: str) -> str:
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(text)
    return text.strip()


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


KEY_LENGTH = 32
LEVELS = {
    name: name
    for name, level in logging.getLevelNamesMapping().items()
    if level and name not in ("WARN", "FATAL")
}
SHORTEST = 16
"""Characters of a secret that somebody signs with."""
POSTGRES = ("postgres", "postgresql", "psql", "pgsql")
TEXTS = (None, str, list)
"""What is read as text: set to nothing, it is empty."""
READERS: dict[object, tuple[Callable[[str], Any], str]] = {
    None: (str, "a text"),
    str: (str, "a text"),
    int: (int, "a whole number"),
    float: (_number, "a number, 0 or above"),
    bool: (lambda text: WORDS[text.strip().lower()], "true or false"),
    list: (_list, "a list with commas"),
    _above_0: (_above_0, "a number above 0"),
    _from_0: (_from_0, "a whole number, 0 or above"),
    _from_1: (_from_1, "a whole number, 1 or above"),
    _level: (_level, f"one of {', '.join(LEVELS)}"),
    _http_url: (_http_url, "an address that begins with http:// or https://"),
}
