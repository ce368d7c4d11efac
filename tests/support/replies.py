"""Every way to reply to every shape of question: what a person does, and what the node receives.

The values are written down here as the documentation of each shape asks for them: LangChain's
`HumanInTheLoopMiddleware` in both of its modes, the README of Agent Inbox, the schema of a typed
question, `approvals.ask`, and True or False for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from tests.support.agents import FILE, MAIL, NOTE, Card, Invoice, Payment


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a person does on a page, told by what a screen reader calls it."""

    does: Literal["fill", "choose", "pick", "unfold", "press"]
    name: str
    text: str = ""
    within: tuple[str, ...] = ()
    """Names of the regions and groups around it, from the outside in."""


def fill(name: str, text: str, *within: str) -> Step:
    return Step(does="fill", name=name, text=text, within=within)


def choose(name: str, *within: str) -> Step:
    """A radio button or a box to tick."""
    return Step(does="choose", name=name, within=within)


def pick(name: str, text: str, *within: str) -> Step:
    """One entry of a list that opens."""
    return Step(does="pick", name=name, text=text, within=within)


def unfold(name: str) -> Step:
    return Step(does="unfold", name=name)


def press(name: str, *within: str) -> Step:
    return Step(does="press", name=name, within=within)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One way to answer the question of one agent."""

    agent: str
    called: str
    steps: tuple[Step, ...]
    """The last one sends it."""
    received: object
    """What the node gets from `interrupt`."""
    ran: tuple[tuple[str, dict[str, Any]], ...] = ()
    """The tools that then ran, with their arguments."""
    told: tuple[str, ...] = ()
    """What the model reads in place of the results of its calls."""
    seconded: bool = False
    """Somebody else has to approve it: arguments were changed."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What the policy says that a verdict means."""

    def __str__(self) -> str:
        return f"{self.agent}: {self.called}"


# --- LangChain, one question about all calls ------------------------------------------------------

SECOND = MAIL | {"copies": 3, "share": 0.75}
FIRST, OTHER, THIRD, FOURTH = "1. send_email", "2. delete_file", "3. send_email", "4. send_email"
SEND = press("Send 2 decisions")

BATCHED = (
    Reply(
        agent="batched",
        called="approve all",
        steps=(choose("Approve", FIRST), choose("Approve", OTHER), SEND),
        received={"decisions": [{"type": "approve"}, {"type": "approve"}]},
        ran=(("delete_file", FILE), ("send_email", MAIL)),
    ),
    Reply(
        agent="batched",
        called="approve and reject",
        steps=(
            choose("Approve", FIRST),
            choose("Reject", OTHER),
            fill("Reason", "Keep it.", OTHER),
            SEND,
        ),
        received={"decisions": [{"type": "approve"}, {"type": "reject", "message": "Keep it."}]},
        ran=(("send_email", MAIL),),
        told=("Keep it.", "sent"),
    ),
    Reply(
        agent="batched",
        called="reject all, for one reason and without one",
        steps=(
            choose("Reject", FIRST),
            fill("Reason", "Not to her.", FIRST),
            choose("Reject", OTHER),
            fill("Comment", "Not today."),
            SEND,
        ),
        received={
            "decisions": [
                {"type": "reject", "message": "Not to her."},
                {"type": "reject", "message": "Not today."},
            ]
        },
        told=("Not to her.", "Not today."),
    ),
    Reply(
        agent="batched_four",
        called="approve, reject, respond and edit",
        steps=(
            choose("Approve", FIRST),
            choose("Reject", OTHER),
            fill("Reason", "Keep it.", OTHER),
            choose("Answer in its place", THIRD),
            fill("Answer", "Sent by hand.", THIRD),
            choose("Approve as changed", FOURTH),
            fill("Copies", "3", FOURTH),
            fill("Share", "0.75", FOURTH),
            press("Send 4 decisions"),
        ),
        received={
            "decisions": [
                {"type": "approve"},
                {"type": "reject", "message": "Keep it."},
                {"type": "respond", "message": "Sent by hand."},
                {"type": "edit", "edited_action": {"name": "send_email", "args": SECOND}},
            ]
        },
        ran=(("send_email", MAIL), ("send_email", SECOND)),
        told=("Keep it.", "Sent by hand.", "human reviewer replaced"),
        seconded=True,
    ),
    Reply(
        agent="batched_four",
        called="each mail as changed",
        steps=(
            choose("Approve as changed", FIRST),
            fill("Copies", "3", FIRST),
            fill("Share", "0.75", FIRST),
            choose("Approve", OTHER),
            choose("Approve as changed", THIRD),
            fill("Copies", "9", THIRD),
            choose("Approve", FOURTH),
            press("Send 4 decisions"),
        ),
        received={
            "decisions": [
                {"type": "edit", "edited_action": {"name": "send_email", "args": SECOND}},
                {"type": "approve"},
                {
                    "type": "edit",
                    "edited_action": {"name": "send_email", "args": NOTE | {"copies": 9}},
                },
                {"type": "approve"},
            ]
        },
        ran=(
            ("delete_file", FILE),
            ("send_email", MAIL),
            ("send_email", SECOND),
            ("send_email", NOTE | {"copies": 9}),
        ),
        seconded=True,
    ),
)

# --- LangChain, a question about one call ---------------------------------------------------------


def _one_call(agent: str, wrapped: bool) -> tuple[Reply, ...]:
    """All four decisions about a single call, alone or in a list of one."""

    def received(decision: dict[str, Any]) -> object:
        return {"decisions": [decision]} if wrapped else decision

    return (
        Reply(
            agent=agent,
            called="approve",
            steps=(press("Approve send_email"),),
            received=received({"type": "approve"}),
            ran=(("send_email", MAIL),),
            told=("sent",),
        ),
        Reply(
            agent=agent,
            called="edit",
            steps=(
                unfold("Change arguments"),
                fill("Copies", "3"),
                fill("Share", "0.75"),
                press("Approve as changed"),
            ),
            received=received(
                {"type": "edit", "edited_action": {"name": "send_email", "args": SECOND}}
            ),
            ran=(("send_email", SECOND),),
            told=("human reviewer replaced",),
            seconded=True,
        ),
        Reply(
            agent=agent,
            called="reject",
            steps=(fill("Comment", "Not today."), press("Reject… send_email")),
            received=received({"type": "reject", "message": "Not today."}),
            told=("Not today.",),
        ),
        Reply(
            agent=agent,
            called="respond",
            steps=(
                unfold("Answer in its place"),
                fill("Answer", "Sent by hand."),
                press("Answer in its place"),
            ),
            received=received({"type": "respond", "message": "Sent by hand."}),
            told=("Sent by hand.",),
        ),
    )


# --- Agent Inbox ----------------------------------------------------------------------------------

ASKED = {"action": "send_email", "args": MAIL}

INBOX = (
    Reply(
        agent="inbox",
        called="accept",
        steps=(press("Accept send_email"),),
        received=[{"type": "accept", "args": ASKED}],
    ),
    Reply(
        agent="inbox_list",
        called="accept, asked in a list of one",
        steps=(press("Accept send_email"),),
        received=[{"type": "accept", "args": ASKED}],
    ),
    Reply(
        agent="inbox",
        called="edit",
        steps=(
            unfold("Change arguments"),
            fill("Copies", "3"),
            fill("Share", "0.75"),
            press("Accept as changed"),
        ),
        received=[{"type": "edit", "args": {"action": "send_email", "args": SECOND}}],
        seconded=True,
    ),
    Reply(
        agent="inbox",
        called="respond",
        steps=(unfold("Respond"), fill("Response", "Wait.\nPlease."), press("Respond")),
        received=[{"type": "response", "args": "Wait.\nPlease."}],
    ),
    Reply(
        agent="inbox",
        called="ignore",
        steps=(fill("Comment", "No."), press("Ignore… send_email")),
        received=[{"type": "ignore", "args": None}],
    ),
)

# --- typed ----------------------------------------------------------------------------------------

ANSWER = press("Send answer")


def _typed(agent: str, called: str, received: object, *steps: Step) -> Reply:
    return Reply(agent=agent, called=called, steps=(*steps, ANSWER), received=received)


TYPED = (
    _typed("typed_bool", "yes", True, choose("Yes")),
    _typed("typed_bool", "no", False, choose("No")),
    _typed("typed_text", "text", "12", fill("Answer", "12")),
    _typed("typed_number", "number", 12.0, fill("Answer", "12")),
    _typed("typed_day", "day", date(2026, 12, 24), fill("Answer", "2026-12-24")),
    _typed("typed_size", "a number among texts", 42, choose("42")),
    _typed("typed_names", "list", ["Ada", "7"], fill("1", "Ada"), fill("2", "7")),
    _typed(
        "typed_model",
        "the second alternative",
        Payment(by=Invoice(way="invoice", days=30), cents=500),
        choose("Invoice", "By"),
        fill("Days", "30", "By"),
        fill("Cents", "500"),
    ),
    _typed(
        "typed_model",
        "the first alternative",
        Payment(by=Card(way="card", last4="0042"), cents=500),
        choose("Card", "By"),
        fill("Last4", "0042", "By"),
        fill("Cents", "500"),
    ),
    _typed(
        "typed_every_kind",
        "every kind of field",
        {
            "name": "Ada",
            "letter": "Dear Ada,\nhello.",
            "mail": "ada@example.com",
            "day": "2026-12-24",
            "moment": "2026-12-24T09:30:00+00:00",
            "count": 7,
            "price": 12.0,
            "express": False,
            "size": 42,
            "country": "DE",
            "extras": ["gift", 7],
            "version": 3,
            "raw": {"n": [1, 2.5, None]},
            "numbers": [1, 2, 3],
            "address": {"street": "Main Street 1"},
            "paid": {"way": "invoice", "days": 30},
            "memo": None,
        },
        fill("Name", "Ada"),
        fill("Letter", "Dear Ada,\nhello."),
        fill("Mail", "ada@example.com"),
        fill("Day", "2026-12-24"),
        fill("Moment", "2026-12-24T09:30:00"),
        fill("Count", "7"),
        fill("Price", "12"),
        choose("No", "Express"),
        choose("42", "Size"),
        pick("Country", "DE"),
        choose("gift", "Extras"),
        choose("7", "Extras"),
        fill("Raw", '{"n": [1, 2.5, null]}'),
        fill("Numbers 1", "1", "Numbers"),
        fill("Numbers 2", "2", "Numbers"),
        press("Add a row to Numbers", "Numbers"),
        fill("Numbers 3", "3", "Numbers"),
        fill("Street", "Main Street 1", "Address"),
        choose("Invoice", "Paid"),
        fill("Days", "30", "Paid"),
    ),
)

# --- ours, and everything nobody knows ------------------------------------------------------------


def _ours(decision: str, comment: str, by: str, **changed: object) -> dict[str, object]:
    """What stands in the answer besides the digest of the question."""
    return {"decision": decision, "value": None, "comment": comment, "by": by, **changed}


OURS = (
    Reply(
        agent="ours",
        called="approve",
        steps=(fill("Comment", "Fine."), press("Approve payments.refund")),
        received=_ours("approved", "Fine.", "Ben", args={"cents": 60_000}),
    ),
    Reply(
        agent="ours",
        called="reject",
        steps=(fill("Comment", "Too much."), press("Reject… payments.refund")),
        received=_ours("rejected", "Too much.", "Ben", args={"cents": 60_000}),
    ),
    Reply(
        agent="ours",
        called="edit",
        steps=(
            unfold("Change arguments"),
            fill("Cents", "50000"),
            fill("Comment", "Less."),
            press("Approve as changed"),
        ),
        received=_ours("approved", "", "Eve", args={"cents": 50_000}),
        seconded=True,
    ),
)
PLAIN = (
    Reply(agent="plain", called="approve", steps=(press("Approve"),), received=True),
    Reply(
        agent="plain",
        called="reject",
        steps=(fill("Comment", "No."), press("Reject…")),
        received=False,
    ),
    Reply(
        agent="plain",
        called="approve, as the policy says",
        steps=(press("Approve"),),
        received={"go": 1, "on": [True]},
        answers={"approve": {"go": 1, "on": [True]}, "reject": "stop"},
    ),
    Reply(
        agent="plain",
        called="reject, as the policy says",
        steps=(fill("Comment", "No."), press("Reject…")),
        received="stop",
        answers={"approve": 1, "reject": "stop"},
    ),
)

REPLIES = (
    *BATCHED,
    *_one_call("batched_one", wrapped=True),
    *_one_call("per_call", wrapped=False),
    *INBOX,
    *TYPED,
    *OURS,
    *PLAIN,
)

ONE_OF_EACH = tuple(
    reply
    for reply in REPLIES
    if str(reply)
    in (
        "batched: approve and reject",
        "batched_one: respond",
        "per_call: reject",
        "inbox: edit",
        "typed_model: the second alternative",
        "ours: edit",
        "plain: reject",
    )
)
"""One for each shape: enough for what does not differ from decision to decision."""
