"""The audit log: its list with each filter, and deep in it."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from accounts.models import User
from audit.models import Entry
from benchmarks.addresses.readers import Page, Readers, listed


def pages(who: Readers) -> Iterator[Page]:
    yield from listed("audit", who.auditor, reverse("audit:list"), _asked(who))
    own: dict[str, dict[str, object]] = {"": {}, "refused": {"result": "refused"}}
    yield from listed("audit, operator", who.operator, reverse("audit:list"), own)
    yield Page(name="audit keys", reader=who.auditor, address=reverse("audit:keys"))


def _asked(who: Readers) -> dict[str, dict[str, object]]:
    busy = User.objects.order_by("pk")[0]
    entry = Entry.objects.filter(verb="decision.made").order_by("pk")[100:].first()
    low, high = (Entry.objects.order_by(by).values_list("pk", flat=True)[0] for by in ("id", "-id"))
    return {
        "": {},
        "refused": {"result": "refused"},
        "allowed": {"result": "allowed"},
        "of a verb": {"verb": "decision.made"},
        "of a common verb": {"verb": "effect.sent"},
        "of a rare verb": {"verb": "effect.settled"},
        "of a verb that never was": {"verb": "stop.set"},
        "of a group of verbs": {"verb": "run"},
        "by a person's name": {"actor": busy.label},
        "by a person's address": {"actor": busy.email},
        "by a rare person": {"actor": User.objects.order_by("-pk")[0].label},
        "by a part of the system": {"actor": "ledger"},
        "by nobody": {"actor": "Nobody Atall"},
        "by a person, of a verb": {"actor": busy.label, "verb": "decision.made"},
        "by a person, refused": {"actor": busy.label, "result": "refused"},
        "about something": {"target": entry.target_id if entry else ""},
        "of a run": {"run": entry.run_id if entry else ""},
        "of an hour": {"since": "1h"},
        "of a month": {"since": "30d"},
        "of a month, of a rare verb": {"since": "30d", "verb": "effect.settled"},
        "of a month long ago": {"end": _day(0.2)},
        "by a text": {"q": "customer"},
        "by a text that is not there": {"q": "zzzzzz"},
        "half way down": {"after": _at(0.5)},
        "at the end": {"after": low + 60},
        "from the end upwards": {"before": low},
        "of a verb, half way down": {"verb": "decision.made", "after": _at(0.5)},
        "refused, half way down": {"result": "refused", "after": _at(0.5)},
        "beyond the newest": {"after": high + 1},
    }


def _at(share: float) -> int:
    """The id of the entry at this share of the log."""
    return _entry(share).pk


def _day(share: float) -> str:
    return _entry(share).at.strftime("%Y-%m-%dT%H:%M")


def _entry(share: float) -> Entry:
    entries = Entry.objects.order_by("pk")
    return entries[int(entries.count() * share)]
