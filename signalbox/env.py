"""Reads the environment loudly: a value that cannot be meant stops the start and says which it is.

django-environ by itself takes "yess" for false, makes an empty text of a number it cannot read, and
looks elsewhere for a secret that begins with a dollar sign.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

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

    def get_value(
        self,
        var: str,
        cast: object = None,
        default: Any = environ.Env.NOTSET,
        parse_default: bool = False,
    ) -> Any:
        """The variable's value. Raises ImproperlyConfigured."""
        if cast not in READERS:  # addresses
            return super().get_value(var, cast, default, parse_default)
        read, what = READERS[cast]
        value = self.ENVIRON.get(var)
        if value is None or (not value.strip() and cast in {int, float, bool}):
            if default is self.NOTSET:
                raise ImproperlyConfigured(f"{var} is not set. Set it to {what}.")
            return default
        try:
            return read(value)
        except (ValueError, KeyError) as error:
            raise ImproperlyConfigured(
                f"{var} is {value!r}, but must be {what}. Correct it, or leave it out."
            ) from error

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


def _number(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(text)
    return number


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


READERS: dict[object, tuple[Callable[[str], Any], str]] = {
    None: (str, "a text"),
    str: (str, "a text"),
    int: (int, "a whole number"),
    float: (_number, "a number"),
    bool: (lambda text: WORDS[text.strip().lower()], "true or false"),
    list: (_list, "a list with commas"),
}
