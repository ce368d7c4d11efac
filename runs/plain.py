"""Checkpoint values as plain data, for people to read.

1. Nothing is built again: no class is imported and no pickle opened, so a web process that shows a
   state never runs an agent's code.
2. An object becomes the mapping of its fields, with its class under "(type)" unless the fields say
   what it is; what cannot be read becomes a text that says so.

Source of the format: langgraph.checkpoint.serde.jsonplus of langgraph-checkpoint 4.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from uuid import UUID

import ormsgpack

TYPE = "(type)"


class PlainReader:
    """A serializer for savers that only read."""

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """The value as data; a text in brackets for what stays closed."""
        kind, stored = data
        try:
            return _READERS[kind](stored)
        except KeyError:
            return f"({len(stored)} bytes stored as {kind}, not opened)"
        except RecursionError:
            return f"({len(stored)} bytes, nested too deep to be opened)"
        except (ValueError, TypeError, IndexError) as exc:
            return f"(cannot be read: {exc})"

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        raise NotImplementedError("this reader writes nothing")


def _unpack(data: bytes) -> object:
    return ormsgpack.unpackb(data, ext_hook=_object, option=ormsgpack.OPT_NON_STR_KEYS)


_READERS: dict[str, Callable[[bytes], object]] = {
    "null": lambda _: None,
    "empty": lambda _: None,
    "bytes": bytes,
    "bytearray": bytes,
    "json": json.loads,
    "msgpack": _unpack,
}

SINGLE, POSITIONAL, KEYWORDS, METHOD, MODEL_1, MODEL_2, ARRAY, SNAPSHOT = range(8)


def _object(code: int, data: bytes) -> object:
    if code > SNAPSHOT:
        return f"({len(data)} bytes of an unknown type)"
    held = _unpack(data)
    if code == SNAPSHOT:
        return held
    if not isinstance(held, list | tuple) or len(held) < 3:
        return f"({len(data)} bytes that make no sense)"
    if code == ARRAY:
        return f"(array of {held[0]}, shape {held[1]})"
    module, name, payload = held[:3]
    known = _KNOWN.get((module, name))
    if known is not None:
        return known(payload)
    if code in (SINGLE, METHOD):
        return payload
    if code == POSITIONAL:
        return {TYPE: f"{module}.{name}", "arguments": payload}
    return _fields(f"{module}.{name}", payload)


def _fields(name: str, payload: object) -> object:
    if not isinstance(payload, dict):
        return {TYPE: name, "value": payload}
    return payload if isinstance(payload.get("type"), str) else {TYPE: name} | payload


_KNOWN: dict[tuple[str, str], Callable[..., object]] = {
    ("uuid", "UUID"): lambda text: str(UUID(text)),
    ("datetime", "date"): lambda parts: date(*parts).isoformat(),
    ("datetime", "timedelta"): lambda parts: str(timedelta(*parts)),
    ("re", "compile"): lambda parts: parts[0],
    ("pathlib", "PosixPath"): lambda parts: "/".join(parts).replace("//", "/", 1),
    ("langgraph.types", "Send"): lambda parts: {"node": parts[0], "argument": parts[1]},
    ("langgraph.types", "Interrupt"): lambda held: held,
}
