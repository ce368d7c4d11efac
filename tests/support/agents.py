"""Agents of every shape of question, as people build them, and what their nodes received.

LangChain's are made by `create_agent` with a chat model that says what it is told to.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field, field_validator

import approvals

CALLS: list[tuple[str, dict[str, Any]]] = []
"""The tools that ran, with what they were given."""
RECEIVED: list[Any] = []
"""What nodes got from `interrupt`."""
MAIL = {"to": "ada@example.com", "copies": 2, "urgent": True, "share": 0.5}
NOTE = {"to": "wen@example.com", "copies": 1, "urgent": False, "share": 1.0}
FILE = {"path": "reports/q3.txt"}


@tool
def send_email(to: str, copies: int, urgent: bool, share: float) -> str:
    """Send one e-mail."""
    CALLS.append(("send_email", {"to": to, "copies": copies, "urgent": urgent, "share": share}))
    return "sent"


@tool
def delete_file(path: str) -> str:
    """Delete one file."""
    CALLS.append(("delete_file", {"path": path}))
    return "deleted"


class Scripted(BaseChatModel):
    """Calls both tools in its first turn, and is content with whatever comes back."""

    calls: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Scripted:
        del tools
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answered = [message for message in messages if message.type == "tool"]
        said = AIMessage("Done.") if answered else AIMessage("", tool_calls=self.calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


def _calls(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "args": args, "id": f"call_{n}", "type": "tool_call"}
        for n, (name, args) in enumerate(calls)
    ]


def langchain(mode: Literal["batched", "per_call"], *calls: tuple[str, dict[str, Any]]) -> Any:
    """An agent of LangChain's whose model calls these tools at once."""
    return create_agent(
        Scripted(calls=_calls(*calls)),
        tools=[send_email, delete_file],
        middleware=[
            HumanInTheLoopMiddleware(
                interrupt_on={
                    "send_email": True,
                    "delete_file": {"allowed_decisions": ["approve", "reject"]},
                },
                interrupt_mode=mode,
            )
        ],
    )


batched = langchain("batched", ("send_email", MAIL), ("delete_file", FILE))
batched_one = langchain("batched", ("send_email", MAIL))
batched_four = langchain(
    "batched",
    ("send_email", MAIL),
    ("delete_file", FILE),
    ("send_email", NOTE),
    ("send_email", MAIL),
)
per_call = langchain("per_call", ("send_email", MAIL))
per_call_two = langchain("per_call", ("send_email", MAIL), ("delete_file", FILE))


class State(TypedDict, total=False):
    got: Any


def _asking(payload: object, schema: Any = None) -> Any:
    """A graph of one node that asks this and remembers what it got."""

    def node(_: State) -> State:
        got = interrupt(payload, response_schema=schema)
        RECEIVED.append(got)
        return {"got": got.model_dump() if isinstance(got, BaseModel) else got}

    builder = StateGraph(State)
    added: Any = node  # LangGraph's many forms of a node are no help here
    builder.add_node("ask", added)
    builder.add_edge(START, "ask")
    return builder.compile()


INBOX = {
    "action_request": {"action": "send_email", "args": MAIL},
    "config": {
        "allow_accept": True,
        "allow_edit": True,
        "allow_respond": True,
        "allow_ignore": True,
    },
    "description": "**Says hello**",
}
inbox = _asking(INBOX)
inbox_list = _asking([INBOX])
ORDER = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "description": "How many to order."},
        "price": {"type": "number"},
        "express": {"type": "boolean"},
        "when": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "size": {"enum": ["S", "M", 42]},
        "notes": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["street"],
        },
    },
    "required": ["count", "size"],
}
typed_dict = _asking({"question": "What should be ordered?"}, ORDER)


def _way(name: str, field: str, kind: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"way": {"const": name}, field: {"type": kind}},
        "required": ["way", field],
    }


EVERY_KIND = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "letter": {"type": "string", "maxLength": 2000},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "express": {"type": "boolean"},
        "size": {"enum": ["S", "M", 42]},
        "country": {"enum": ["AT", "CH", "DE", "FR", "IT", None]},
        "extras": {"type": "array", "uniqueItems": True, "items": {"enum": ["gift", "card", 7]}},
        "version": {"const": 3},
        "raw": {},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["street"],
        },
        "paid": {"oneOf": [_way("card", "last4", "string"), _way("invoice", "days", "integer")]},
        "memo": {"type": ["string", "null"]},
        "left_out": {"type": "string"},
    },
    "required": ["name", "count", "price", "express", "version", "memo"],
}
"""A field of every kind that a form has."""
typed_every_kind = _asking({"question": "All of it?"}, EVERY_KIND)


class Card(BaseModel):
    way: Literal["card"]
    last4: str = Field(pattern=r"^\d{4}$")


class Invoice(BaseModel):
    way: Literal["invoice"]
    days: int = Field(ge=1, le=90)


class Payment(BaseModel):
    """How it is paid."""

    by: Card | Invoice = Field(discriminator="way")
    cents: int = Field(gt=0)


class Lucky(BaseModel):
    """A type that wants more than its JSON Schema can say."""

    number: int

    @field_validator("number")
    @classmethod
    def not_thirteen(cls, number: int) -> int:
        if number == 13:
            raise ValueError("13 is no lucky number")
        return number


typed_validator = _asking("Which number?", Lucky)
typed_model = _asking("How is it paid?", Payment)
typed_bool = _asking("Is it true?", bool)
typed_text = _asking("In which words?", str)
typed_number = _asking("How much?", float)
typed_day = _asking("On which day?", date)
typed_size = _asking("Which size?", Literal["S", 42])
typed_names = _asking("Whose?", list[str])
plain = _asking("May I go on?")


def _ours() -> Any:
    def node(_: State) -> State:
        answer = approvals.ask("Refund order 7", tool="payments.refund", args={"cents": 60_000})
        RECEIVED.append(answer)
        return {"got": [answer.decision, bool(answer), dict(answer.args)]}

    builder = StateGraph(State)
    added: Any = node  # LangGraph's many forms of a node are no help here
    builder.add_node("ask", added)
    builder.add_edge(START, "ask")
    return builder.compile()


ours = _ours()
