"""Values that are never stored in clear: those of the fields that a tool names in `redact=`.

1. In results and in what providers answer, a field with such a name has "redacted" in the place of
   its value, however deep it is. The node gets what is stored, so it gets that too, the first time
   as later.
2. In the words of an error, which quote what a provider said, they are replaced as well as can be:
   where they look like JSON, and where they are the value of a secret that was sent.
3. Arguments are not redacted, because a call may have to be made again with the same bytes. A field
   of this name takes a reference and nothing else; see `ledger.secrets`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from audit.canonical import Json

REDACTED = "redacted"
PREFIX = "secret:"
"""Of an argument that names a secret instead of containing it."""
SHORTEST = 4
"""Characters of a secret that is looked for in texts: shorter ones are in every text."""


def of(value: Json, fields: Collection[str]) -> Json:
    """`value` without those fields' values."""
    if not fields:
        return value
    if isinstance(value, list):
        return [of(item, fields) for item in value]
    if isinstance(value, dict):
        return {
            name: REDACTED if name in fields and item is not None else of(item, fields)
            for name, item in value.items()
        }
    return value


def in_text(text: str, fields: Collection[str]) -> str:
    """`text` without what follows those fields' names, where it reads as JSON."""
    if not fields:
        return text
    names = "|".join(re.escape(name) for name in sorted(fields))
    pattern = (
        rf"""(["'](?:{names})["']\s*:\s*)("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,}}\]]+)"""
    )
    return re.sub(pattern, rf'\1"{REDACTED}"', text)


def without(text: str, secrets: Collection[str]) -> str:
    """`text` without these values."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, REDACTED)
    return text


def everywhere(value: Json, secrets: Collection[str]) -> Json:
    """`value` without these values in any of its texts."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, list):
        return [everywhere(item, secrets) for item in value]
    if isinstance(value, dict):
        return {name: everywhere(item, secrets) for name, item in value.items()}
    return value


def is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def in_clear(args: Json, fields: Collection[str]) -> Iterator[str]:
    """The names of those fields in `args` whose value is there, instead of a reference to it."""
    if isinstance(args, list):
        for item in args:
            yield from in_clear(item, fields)
    if isinstance(args, dict):
        for name, item in args.items():
            if name in fields and item is not None and not is_reference(item):
                yield name
            yield from in_clear(item, fields)
