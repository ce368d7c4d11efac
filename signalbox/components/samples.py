"""What the components show on their page. Nothing here is stored or read from the database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

import approvals.status
import ledger.status
import runs.status
from runs.timeline import drawing
from runs.timeline.drawing import Chart
from runs.timeline.drives import Drive
from runs.timeline.lanes import Lane
from signalbox.templatetags.ui import State

RUN = "019acf3e-7b20-7000-8000-00000000c41e"
HOSTILE = "Pay \u202e00.021€\u202c to\u200b Ada" + " " * 60 + "and <b>Eve</b>"
VALUE = {
    "order_id": "10382",
    "amount_minor": 12000,
    "note": "The item arrived damaged. " * 20,
    "lines": [{"sku": "A-1", "count": 2, "tags": ["fragile"]}],
}
BEFORE = {"amount": 100, "reason": "The item arrived damaged", "todo": ["draft"]}
AFTER = {"amount": 120, "reason": "The item arrived late", "currency": "EUR", "todo": []}
TONES = ("neutral", "info", "human", "ok", "warn", "bad")
BUTTONS = ("", "primary", "danger", "quiet", "small")


class Reason(forms.Form):
    """A form with a text, a line, a choice and a box."""

    reason = forms.CharField(
        help_text="Kept in the audit log.", widget=forms.Textarea(attrs={"rows": 3})
    )
    typed = forms.CharField(label="Type c41e to confirm")
    verdict = forms.ChoiceField(
        choices=[("yes", "It happened"), ("no", "It did not happen")], widget=forms.RadioSelect
    )
    sure = forms.BooleanField(label="I have read the facts above")


def states() -> list[tuple[str, Iterable[State]]]:
    """Every state that a badge can show, by what it is a state of."""
    return [
        ("Runs", runs.status.STATES.values()),
        ("Conditions of runs", runs.status.OVERLAYS.values()),
        ("Reasons for parking", runs.status.PARKS.values()),
        ("Ends of attempts", runs.status.OUTCOMES.values()),
        ("Effects", [*ledger.status.STATES.values(), ledger.status.CALLING]),
        ("Messages", ledger.status.MESSAGES.values()),
        ("Requests", approvals.status.STATES.values()),
        ("Deliveries of decisions", approvals.status.DELIVERIES.values()),
    ]


def timeline(start: datetime) -> Chart:
    """Of a run whose worker was lost, which then waited for a person and still goes on."""

    def at(seconds: float) -> datetime:
        return start + timedelta(seconds=seconds)

    drives = [
        Drive(
            start=start,
            end=at(34),
            tone="warn",
            rest="warn",
            why="nobody drives: the worker was lost",
            lost=True,
            expired=at(64),
            fence=1,
            holder="worker@alpha:4711",
        ),
        Drive(
            start=at(104),
            end=at(153),
            fence=2,
            holder="worker@beta:1902",
            rest="human",
            why="waits for a person",
        ),
        Drive(start=at(4181), end=at(4240), fence=3, holder="worker@beta:1902"),
    ]
    branches = [
        Lane(label="score", start=at(4186), end=at(4210)),
        Lane(label="screen", start=at(4186), end=at(4228)),
    ]
    lanes = [
        Lane(label="load_order", start=start, end=at(9)),
        Lane(label="pay", start=at(9), end=at(140)),
        Lane(label="approval_gate", start=at(140), end=at(4186), tone="human"),
        Lane(label="check", start=at(4186), end=at(4240), current=True, below=branches),
    ]
    return drawing.draw(lanes, drives, start=start, end=at(4240), now=True)


def context(form: forms.Form) -> dict[str, Any]:
    """For the template of the page, with `form` as its form."""
    now = timezone.now()
    return {
        "states": [*runs.status.STATES.values(), *runs.status.OVERLAYS.values()],
        "all_states": states(),
        "tones": TONES,
        "buttons": BUTTONS,
        "form": form,
        "ago": now - timedelta(minutes=3),
        "ahead": now + timedelta(minutes=57),
        "hostile": HOSTILE,
        "value": VALUE,
        "before": BEFORE,
        "after": AFTER,
        "run_id": RUN,
        "chart": timeline(now - timedelta(seconds=4240)),
        "newer": "?newer",
        "older": "?older",
    }
