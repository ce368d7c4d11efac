"""The filters of the ledger, as they stand in its address and as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone

from accounts.models import User
from accounts.moments import MomentField
from accounts.speech import later as _
from audit import exports
from ledger import queries
from ledger.browse import conditions, words
from ledger.browse.conditions import Condition
from ledger.browse.filters import Filters, Role
from ledger.rows import LONGEST_REFERENCE
from ledger.status import STATES
from runs import masking, ports, registry, secondhand, web
from runs.forms import LIKE_CODE

BY_HAND = "by_hand"
MORE = ("person", "role", "where", "since", "until", "run", "key", "reference", "incident")
"""Fields that are folded away until one of them is used."""
MOST_PEOPLE = 200
"""Names that the field "Person" suggests."""
ROLES = (
    (Role.ANY, _("Started, allowed or settled by")),
    (Role.STARTED, _("Run started by")),
    (Role.ALLOWED, _("Allowed by")),
    (Role.SETTLED, _("Settled by")),
)


def _states() -> list[tuple[str, str]]:
    states = [(state.value, state.label) for state in STATES.values()]
    return [("", _("Any status")), *states, (BY_HAND, _("Settled by hand"))]


def _tools() -> list[tuple[str, str]]:
    return [("", _("Any tool")), *((name, name) for name in queries.tools())]


def _agents() -> list[tuple[str, str]]:
    declared = registry.declarations().values()
    return [("", _("Any agent")), *((each.name, each.shown) for each in declared)]


def _text(label: str, placeholder: str = "", **attrs: str) -> forms.TextInput:
    return forms.TextInput(attrs=LIKE_CODE | {"placeholder": placeholder} | attrs)


class FilterForm(forms.Form):
    """Which effects the list shows. An empty field shows all."""

    q = forms.CharField(
        label=_("Search"),
        max_length=500,
        required=False,
        widget=_text(_("Search"), _("Order, title, reference, tool or id"), type="search"),
    )
    status = forms.ChoiceField(label=_("Status"), choices=_states, required=False)
    tool = forms.ChoiceField(label=_("Tool"), choices=_tools, required=False)
    agent = forms.ChoiceField(label=_("Agent"), choices=_agents, required=False)
    person = forms.CharField(
        label=_("Person"),
        max_length=300,
        required=False,
        widget=_text(_("Person"), _("Name or e-mail"), list="people"),
    )
    role = forms.ChoiceField(label=_("What the person did"), choices=ROLES, required=False)
    where = forms.CharField(
        label=_("Arguments"),
        max_length=500,
        required=False,
        widget=_text(_("Arguments"), "amount_cents >= 60000, currency = EUR"),
    )
    since = MomentField(label=_("Reserved from"), required=False)
    until = MomentField(label=_("Reserved before"), required=False)
    run = forms.UUIDField(
        label=_("Run"),
        required=False,
        widget=_text(_("Run"), _("Id of a run")),
        error_messages={
            "invalid": _("This is not the id of a run. Copy the whole id from its page.")
        },
    )
    key = forms.CharField(
        label=_("Key"),
        max_length=520,
        required=False,
        widget=_text(_("Key"), _("Ours or the provider's")),
    )
    reference = forms.CharField(
        label=_("Provider's reference"),
        max_length=LONGEST_REFERENCE,
        required=False,
        widget=_text(_("Provider's reference"), _("The whole of it")),
    )
    incident = forms.BooleanField(label=_("With an incident"), required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.reveals = user, user.has_perm(web.REVEAL)
        asked = str(self.data.get("agent", ""))
        if asked and asked not in registry.declarations():  # of old runs: no longer declared
            choices = [*_agents(), (asked, asked)]
            self.fields["agent"] = forms.ChoiceField(
                label=_("Agent"), choices=choices, required=False
            )

    def clean_q(self) -> str:
        typed: str = self.cleaned_data["q"]
        written = [typed, *(way for ways in words.spellings(typed) for way in ways)]
        if not self.reveals and masking.mask(written).hidden:
            raise forms.ValidationError(
                _(
                    "E-mail addresses and numbers of cards are hidden from you, so they cannot be"
                    " searched for."
                )
            )
        return typed

    def clean_where(self) -> tuple[Condition, ...]:
        try:
            asked = conditions.read(self.cleaned_data["where"])
        except conditions.BadCondition as exc:
            raise forms.ValidationError(str(exc)) from exc
        hidden = [] if self.reveals or not asked else self._hidden(asked)
        if hidden:
            raise forms.ValidationError(
                _(
                    "The values of {hidden} are hidden from you, so they cannot be compared.",
                    hidden=hidden[0],
                )
            )
        return asked

    def _hidden(self, asked: Iterable[Condition]) -> list[str]:
        cloak = ports.masks().anywhere(self.user)
        return [each.path for each in asked if each.hidden(cloak)]

    def filters(self) -> Filters:
        """What a valid form asks for."""
        asked = self.cleaned_data
        by_hand = asked["status"] == BY_HAND
        return Filters(
            status="" if by_hand else asked["status"],
            settled_by_hand=by_hand,
            incident=asked["incident"],
            tool=asked["tool"],
            agent=asked["agent"],
            run_id=asked["run"],
            person=asked["person"],
            role=Role(asked["role"]),
            conditions=asked["where"],
            since=asked["since"],
            until=asked["until"],
            key=asked["key"],
            reference=asked["reference"],
            text=asked["q"],
            in_arguments=self.reveals,
        )

    @property
    def more(self) -> bool:
        """One of the folded fields is used, or wrong."""
        return any(self.data.get(name) or name in self.errors for name in MORE)

    @property
    def folded(self) -> list[forms.BoundField]:
        """The folded fields that stand under their names."""
        return [self[name] for name in MORE if name != "incident"]

    @property
    def used(self) -> bool:
        return any(self.data.get(name) for name in self.fields if name != "role")


def reads(user: User) -> Callable[[QueryDict], bool]:
    """Tells of filters that somebody else has typed whether this person may read them."""
    return secondhand.reads(user, ("q", "where"), _compared)


def _compared(query: QueryDict) -> Iterable[Condition]:
    return conditions.read(str(query.get("where", "")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter that is on, and what is left of the query without it."""

    label: str
    value: str
    without: QueryDict


def chips(form: FilterForm, query: QueryDict) -> Iterator[Chip]:
    """One for each filter that is understood, each condition by itself."""
    asked = form.cleaned_data
    role = Role(asked.get("role", Role.ANY))
    for name in form.fields:
        value = asked.get(name)
        if not value or name == "role":
            continue
        if name == "where":
            yield from _conditions(value, query)
            continue
        label = str(form.fields[name].label)
        if name == "person":
            label = dict(ROLES)[role]
        gone = ("person", "role") if name == "person" else (name,)
        yield Chip(label=label, value=_words(form, name, value), without=_without(query, *gone))


def _conditions(asked: tuple[Condition, ...], query: QueryDict) -> Iterator[Chip]:
    for each in asked:
        rest = _without(query, "where")
        others = ", ".join(str(other) for other in asked if other is not each)
        if others:
            rest["where"] = others
        yield Chip(label=_("Arguments"), value=str(each), without=rest)


def _words(form: FilterForm, name: str, value: object) -> str:
    field = form.fields[name]
    if isinstance(field, forms.ChoiceField) and isinstance(field.choices, Iterable):
        return next((str(label) for key, label in field.choices if key == value), str(value))
    if isinstance(field, forms.BooleanField):
        return ""
    if isinstance(field, forms.DateTimeField):
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M}"  # type: ignore[arg-type]  # its value
    return str(value)


def _without(query: QueryDict, *names: str) -> QueryDict:
    rest = query.copy()
    for name in names:
        rest.pop(name, None)
    return rest


class ExportForm(forms.Form):
    """What an export holds besides what the filters say."""

    format = forms.ChoiceField(
        label=_("As"),
        choices=[
            (exports.JSON_LINES, _("JSON Lines: one effect a line, for programs")),
            (exports.CSV, _("CSV: one effect a row, for spreadsheets")),
        ],
        initial=exports.JSON_LINES,
        widget=forms.RadioSelect,
    )
    unmasked = forms.BooleanField(label=_("With hidden values"), required=False)
    reason = forms.CharField(
        label=_("Why hidden values are needed"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_(
            "Kept in the audit log, with your name. Needed only if hidden values are wanted."
        ),
    )

    def __init__(self, *args: Any, unmasked: bool, **kwargs: Any) -> None:
        """`unmasked`: this person may have hidden values."""
        super().__init__(*args, **kwargs)
        if not unmasked:
            del self.fields["unmasked"], self.fields["reason"]

    def clean(self) -> dict[str, Any] | None:
        sent = super().clean()
        if self.cleaned_data.get("unmasked") and not self.cleaned_data.get("reason", "").strip():
            self.add_error("reason", _("A reason is required. Write one and try again."))
        return sent
