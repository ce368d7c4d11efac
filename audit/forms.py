"""The filters of the audit list, as they stand in its address."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.moments import MomentField
from accounts.speech import later
from audit.queries import Filters
from audit.verbs import VERBS

GROUPS = {
    "run": later("Runs"),
    "operation": later("Many runs at once"),
    "request": later("Requests"),
    "decision": later("Decisions"),
    "mishap": later("What went wrong"),
    "effect": later("Effects"),
    "stop": later("Emergency stops"),
    "undo": later("Effects taken back"),
    "retention": later("Retention"),
    "message": later("Messages of the outbox"),
    "hook": later("Webhooks"),
    "person": later("People"),
    "policy": later("Policies"),
    "delegation": later("Delegations"),
    "payload": later("Hidden values"),
    "export": later("Exports"),
    "log": later("This log"),
}
"""First half of a verb to the heading above it."""
SINCE = {
    "1h": (later("Last hour"), timedelta(hours=1)),
    "24h": (later("Last 24 hours"), timedelta(hours=24)),
    "7d": (later("Last 7 days"), timedelta(days=7)),
    "30d": (later("Last 30 days"), timedelta(days=30)),
}
LIKE_AN_ID = {"autocomplete": "off", "spellcheck": "false"}


def _verbs() -> list[tuple[str, object]]:
    choices: list[tuple[str, object]] = [("", _("Any action"))]
    for group, heading in GROUPS.items():
        of_group = [(name, verb.label) for name, verb in VERBS.items() if _group(name) == group]
        choices.append((heading, [(group, _("{group}: all").format(group=heading)), *of_group]))
    return choices


def _group(name: str) -> str:
    return name.partition(".")[0]


class FiltersForm(forms.Form):
    """What to show. An empty field shows all."""

    verb = forms.ChoiceField(label=later("Action"), choices=_verbs, required=False)
    result = forms.ChoiceField(
        label=later("Result"),
        choices=[
            ("", later("Allowed and refused")),
            ("allowed", later("Allowed")),
            ("refused", later("Refused")),
        ],
        required=False,
    )
    since = forms.ChoiceField(
        label=later("Time"),
        choices=[("", later("Any time")), *((key, label) for key, (label, _) in SINCE.items())],
        required=False,
    )
    actor = forms.CharField(
        label=later("Who"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": later("Name or e-mail"), "list": "people"}),
    )
    target = forms.CharField(
        label=later("About"),
        max_length=600,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": later("Its id")} | LIKE_AN_ID),
    )
    run = forms.UUIDField(
        label=later("Run"),
        required=False,
        widget=forms.TextInput(attrs={"placeholder": later("Id of a run")} | LIKE_AN_ID),
        error_messages={
            "invalid": later("This is not the id of a run. Copy the whole id from its page.")
        },
    )

    q = forms.CharField(
        label=later("Text"),
        max_length=500,
        required=False,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": later("Reasons and facts")} | LIKE_AN_ID
        ),
    )
    start = MomentField(label=later("From"), required=False)
    end = MomentField(label=later("Before"), required=False)

    @property
    def folded(self) -> list[forms.BoundField]:
        """Fields that are folded away until one of them is used."""
        return [self[name] for name in ("q", "start", "end", "run", "target")]

    @property
    def folded_used(self) -> bool:
        return any(bound.value() or bound.errors for bound in self.folded)

    def filters(self) -> Filters:
        """What a valid form asks for."""
        asked = self.cleaned_data
        actor_id, actor_label = _actor(asked["actor"])
        return Filters(
            verbs=_verbs_of(asked["verb"]),
            actor_id=actor_id,
            actor_label=actor_label,
            target_id=asked["target"],
            run_id=asked["run"],
            allowed={"allowed": True, "refused": False}.get(asked["result"]),
            since=asked["start"] or _since(asked["since"]),
            until=asked["end"],
            text=asked["q"],
        )


def _since(choice: str) -> datetime | None:
    return timezone.now() - SINCE[choice][1] if choice else None


def _verbs_of(choice: str) -> tuple[str, ...]:
    """One verb, or all of a group."""
    if choice in GROUPS:
        return tuple(name for name in VERBS if _group(name) == choice)
    return (choice,) if choice else ()


def _actor(text: str) -> tuple[str, str]:
    """(id, label): an address belongs to one account, a name is taken as it was recorded."""
    if "@" in text:
        person = User.objects.filter(email=text.strip().lower()).first()
        return (str(person.pk), "") if person else ("", text)
    return "", text
