"""Reading checkpoint values without building anything again."""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt, Send
from pydantic import BaseModel

from runs.plain import PlainReader

KEY = uuid.UUID("019acf3e-0000-7000-8000-00000000c41e")


class Colour(Enum):
    RED = "red"


class Claim(BaseModel):
    order: str


@dataclass
class Draft:
    cents: int


def shown(value: object) -> Any:
    return PlainReader().loads_typed(JsonPlusSerializer().dumps_typed(value))


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, None),
        ([1, "two", {"three": 3.5}], [1, "two", {"three": 3.5}]),
        (b"raw", b"raw"),
        (KEY, str(KEY)),
        (Decimal("1.10"), "1.10"),
        (datetime(2026, 11, 29, tzinfo=UTC), "2026-11-29T00:00:00+00:00"),
        (date(2026, 11, 29), "2026-11-29"),
        (timedelta(minutes=2), "0:02:00"),
        ({1, 2}, [1, 2]),
        (Colour.RED, "red"),
        (Draft(cents=5), {"(type)": f"{__name__}.Draft", "cents": 5}),
        (Claim(order="7"), {"(type)": f"{__name__}.Claim", "order": "7"}),
        (Send("work", {"n": 1}), {"node": "work", "argument": {"n": 1}}),
    ],
)
def test_values_become_data(value, seen) -> None:
    assert shown(value) == seen


def test_a_message_is_shown_as_its_fields() -> None:
    message = shown([AIMessage(content="hello", id="m1")])[0]
    assert (message["type"], message["content"]) == ("ai", "hello")


def test_a_question_is_shown_with_its_payload() -> None:
    assert shown(Interrupt(value={"amount": 5}, id="q"))["value"] == {"amount": 5}


def test_no_class_is_imported_for_what_is_shown() -> None:
    stored = JsonPlusSerializer().dumps_typed(Draft(cents=5))
    hidden = stored[1].replace(__name__.encode(), b"a" * len(__name__))
    before = set(sys.modules)
    found: Any = PlainReader().loads_typed((stored[0], hidden))
    assert found["cents"] == 5
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    "stored",
    [
        ("pickle", b"cos\nsystem\n(S'true'\ntR."),
        ("msgpack", b"\xc1"),
        ("msgpack", b""),
        ("json", b"{"),
        ("msgpack", b"\xd4\x63\x00"),
        ("msgpack", b"\xd4\x05\x00"),
    ],
)
def test_what_cannot_be_read_says_so(stored) -> None:
    said = PlainReader().loads_typed(stored)
    assert isinstance(said, str)
    assert said.startswith("(")


def test_the_reader_writes_nothing() -> None:
    with pytest.raises(NotImplementedError):
        PlainReader().dumps_typed(1)
