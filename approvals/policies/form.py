"""The form in which a policy is written: one field per key, parts one per line.

What a key may hold is said by `declared` and shown beside its field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

from django import forms
from django.utils.text import capfirst

from accounts.speech import later as _
from approvals.policies import calendars, conditions, declared, lengths, steps
from approvals.policies.declared import Fault
from approvals.policies.rule import Excluded, OnDeadline, Policy, Risk
from approvals.policies.versions import LONGEST_REASON

LIKE_CODE = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


def _line(label: str, hint: str = "", *, required: bool = False, **more: Any) -> forms.CharField:
    widget = forms.TextInput(attrs=LIKE_CODE)
    return forms.CharField(
        label=label, help_text=hint, required=required, max_length=500, widget=widget, **more
    )


def _lines(label: str, hint: str = "", *, rows: int = 3) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows} | LIKE_CODE)
    return forms.CharField(
        label=label, help_text=hint, required=False, max_length=20_000, widget=widget
    )


def _yes(label: str, hint: str = "") -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=hint, required=False)


def reason_field() -> forms.CharField:
    return forms.CharField(
        label=_("Why this change?"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the audit log and in the history, with your name."),
        error_messages={"required": _("A reason is required. Write one and save again.")},
    )


class ReasonForm(forms.Form):
    """Why a policy goes."""

    reason = reason_field()
    seen = forms.IntegerField(widget=forms.HiddenInput)


class PolicyForm(forms.Form):
    """One policy."""

    name = _line(_("Name"), required=True)
    place = forms.IntegerField(
        label=_("Tried as number"),
        min_value=1,
        max_value=1000,
        help_text=_("The first policy that fits decides."),
    )
    agent = _line(_("Agent"), _("A pattern, such as refund_*. A star alone fits every agent."))
    node = _line(_("Step"), _("A pattern of the step that asks."))
    tool = _line(_("Tool"), _("A pattern of the tool that the question names."))
    when = _lines(_("Conditions, one per line"), conditions.HOW)
    group = _line(_("Group whose members decide"))
    groups = _line(_("Or members of"), _("More groups, separated by commas."))
    people = _lines(_("Or these people"), _("E-mail addresses, one per line."), rows=2)
    quorum = forms.IntegerField(
        label=_("How many different people must approve"), min_value=1, max_value=100
    )
    four_eyes = _yes(_("Four eyes: who had a hand in it may not approve"))
    excluded = forms.MultipleChoiceField(
        label=_("Who counts as having a hand in it"),
        choices=[(each.value, capfirst(each.label)) for each in Excluded],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    risk = forms.ChoiceField(label=_("Risk"), choices=Risk.choices)
    bulk = _yes(
        _("Many may be approved at once"),
        _(
            "Only identical questions of low risk, each with its own decision. Rejecting many"
            " at once is always possible."
        ),
    )
    reauthenticate_within = _line(
        _("Proof of identity not older than"),
        _("Such as 10m. Empty: being signed in is enough."),
    )
    passkey = _yes(_("The proof must be a passkey"))
    comment_required_to_reject = _yes(_("A rejection needs a comment"))
    comment_required_to_approve = _yes(_("An approval needs a comment"))
    reject_reasons = _lines(
        _("Reasons to reject, one per line"), _("A rejection names one of them.")
    )
    deadline = _line(_("Deadline"), _("Such as 30m, 4h or 2d."), required=True)
    deadline_at = _line(
        _("Or until a time of day"), _("Instead of the length above: {how}.", how=calendars.HOW_AT)
    )
    hours = _line(
        _("Working hours"),
        _("Lengths count only then: {how}. Empty: around the clock.", how=calendars.HOW),
    )
    reminders = _line(_("Reminders before the deadline"), _("Such as 2h, 30m."))
    escalation = _lines(
        _("Escalation, one step per line"),
        _("Write {how}. The group is told and may decide, too.", how=steps.HOW),
    )
    on_deadline = forms.ChoiceField(
        label=_("If nobody decides"),
        choices=[(each.value, capfirst(each.label)) for each in OnDeadline],
    )
    summary = _line(
        _("Summary"),
        _(
            "What will happen, told by the server: Refund {amount} for order {args.order_id}."
            " {amount} is the amount with its currency."
        ),
    )
    key_facts = _lines(_("Fields to be read first, one per line"), _("Such as args.order_id."))
    masked = _lines(
        _("Masked fields, one per line"),
        _("Write {how}. Without groups nobody sees it.", how=steps.HOW_MASK),
    )
    editable = _line(
        _("Arguments that may be changed"), _("Names or patterns, separated by commas.")
    )
    answers = _lines(
        _("Answers to plain questions"),
        _('JSON of approve, reject and expired, such as {"approve": "yes"}.'),
        rows=2,
    )
    reason = reason_field()
    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, default: bool = False, **kwargs: Any) -> None:
        """`default`: the policy that holds where no other does."""
        super().__init__(*args, **kwargs)
        self.default = default
        if default:
            for name in ("place", "agent", "node", "tool", "when"):
                del self.fields[name]

    @classmethod
    def written(cls, policy: Policy, *, place: int, seen: int) -> dict[str, object]:
        """The initial values that stand for `policy`."""
        values = {each.name: _written(each.name, getattr(policy, each.name)) for each in _keys()}
        return values | {"place": place, "seen": seen}

    def clean(self) -> dict[str, Any] | None:
        sent = super().clean()
        if not self.errors:
            self.refuse(self._read())
        return sent

    def policy(self) -> Policy:
        """What a valid form says."""
        return Policy.of(self._declared)

    def refuse(self, faults: Iterable[Fault]) -> None:
        """Show what is wrong beside its field."""
        for fault in faults:
            if fault.key in self.fields:
                self.add_error(fault.key, fault.sentence.removeprefix(f"{fault.key}: "))
            else:
                self.add_error(None, fault.sentence)

    def _read(self) -> list[Fault]:
        """The policy as `declared` wants it; what cannot be read, and what is wrong with it."""
        self._declared: dict[str, Any] = {}
        unread: list[Fault] = []
        for key, text in self.cleaned_data.items():
            if key in ("place", "reason", "seen"):
                continue
            try:
                self._declared[key] = READ.get(key, _as_it_is)(text)
            except ValueError as exc:
                unread.append(Fault(key=key, sentence=str(exc)))
        return unread or declared.faults(self._declared)


def _keys() -> tuple[Any, ...]:
    return fields(Policy)


# --- between the text of a field and a key --------------------------------------------------------


def _as_it_is(value: Any) -> Any:
    return value


def _split(mark: str) -> Callable[[str], list[str]]:
    return lambda text: [each.strip() for each in text.split(mark) if each.strip()]


def _star(text: str) -> str:
    return text.strip() or "*"


def _maybe(parse: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: parse(text.strip()) if text.strip() else None


def _json(text: str) -> object:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as exc:
        raise ValueError(_("This is not JSON: {exc}", exc=exc)) from exc


READ: Mapping[str, Callable[[Any], Any]] = {
    "name": str.strip,
    "agent": _star,
    "node": _star,
    "tool": _star,
    "when": _split("\n"),
    "groups": _split(","),
    "people": _split("\n"),
    "reauthenticate_within": _maybe(lengths.parse),
    "reject_reasons": _split("\n"),
    "deadline": lengths.parse,
    "deadline_at": _maybe(str),
    "hours": _maybe(str),
    "reminders": lambda text: [lengths.parse(each) for each in _split(",")(text)],
    "escalation": _split("\n"),
    "key_facts": _split("\n"),
    "masked": _split("\n"),
    "editable": _split(","),
    "answers": _json,
}
COMMAS = ("groups", "reminders", "editable")


def _written(key: str, value: Any) -> object:
    """The text of a field that says this."""
    if key == "excluded":
        return list(value)
    if key == "answers":
        return json.dumps(dict(value), ensure_ascii=False) if value else ""
    if isinstance(value, tuple):
        return (", " if key in COMMAS else "\n").join(map(_word, value))
    return value if isinstance(value, bool | int) else _word(value)


def _word(value: Any) -> str:
    if value is None:
        return ""
    return str(value) if not hasattr(value, "total_seconds") else lengths.written(value)
