"""The forms of the operators' pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms

from accounts.models import User
from runs import admission, errors, registry
from runs.models import Run
from runs.queries import Filters
from runs.status import OVERLAYS, STATES

SINCE = {
    "1h": ("Last hour", timedelta(hours=1)),
    "24h": ("Last 24 hours", timedelta(hours=24)),
    "7d": ("Last 7 days", timedelta(days=7)),
    "30d": ("Last 30 days", timedelta(days=30)),
}
ME = "me"
SUFFIX = 4
"""Characters of an id that somebody types to confirm."""
LIKE_CODE = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}


def _states() -> list[tuple[str, str]]:
    overlays = [(name, OVERLAYS[name].label) for name in ("stuck", "stalled")]
    return [("", "Any status"), *((s.value, s.label) for s in STATES.values()), *overlays]


def _agents() -> list[tuple[str, str]]:
    declared = registry.declarations().values()
    return [("", "Any agent"), *((each.name, each.shown) for each in declared)]


class FilterForm(forms.Form):
    """Which runs a list shows. An empty field shows all."""

    q = forms.CharField(
        label="Search",
        max_length=300,
        required=False,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Title, id or key"} | LIKE_CODE
        ),
    )
    status = forms.ChoiceField(label="Status", choices=_states, required=False)
    agent = forms.ChoiceField(label="Agent", choices=_agents, required=False)
    since = forms.ChoiceField(
        label="Started",
        choices=[("", "Any time"), *((key, label) for key, (label, _) in SINCE.items())],
        required=False,
    )
    owner = forms.ChoiceField(label="Started by", required=False)
    attention = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self._offer("owner", [("", "Anybody"), (ME, "Me"), *self._somebody()])
        asked = self.data.get("agent", "")
        if asked and asked not in registry.declarations():  # of old runs: no longer declared
            self._offer("agent", [*_agents(), (asked, asked)])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def _somebody(self) -> list[tuple[str, str]]:
        asked = self.data.get("owner", "")
        if not asked.isdecimal() or len(asked) > 18:
            return []
        person = User.objects.filter(pk=asked).first()
        return [(asked, person.label)] if person else []

    def filters(self) -> Filters:
        """What a valid form asks for."""
        asked = self.cleaned_data
        owner = asked["owner"]
        return Filters(
            status=asked["status"],
            attention=asked["attention"],
            agent=asked["agent"],
            owner=str(self.user.pk) if owner == ME else owner,
            since=SINCE[asked["since"]][1] if asked["since"] else None,
            q=asked["q"].strip(),
        )


class StartForm(forms.Form):
    """A new run of one agent."""

    given = forms.CharField(
        label="Input",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono"} | LIKE_CODE),
        help_text="JSON, as the agent expects it.",
    )
    key = forms.CharField(
        label="Idempotency key",
        required=False,
        max_length=255,
        widget=forms.TextInput(attrs=LIKE_CODE),
        help_text="Starting again with the same key shows the first run instead of a second one.",
    )
    token = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    """Names this form, so that sending it twice starts one run."""

    def clean_given(self) -> object:
        try:
            return admission.read(self.cleaned_data["given"])
        except errors.BadInput as exc:
            raise forms.ValidationError(str(exc)) from exc


class ReasonForm(forms.Form):
    """Why somebody intervenes."""

    reason = forms.CharField(
        label="Reason",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the audit log, with your name.",
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run


class TypedReasonForm(ReasonForm):
    """The same, for what breaks a safety rule: nobody confirms this by habit."""

    typed = forms.CharField(max_length=40, widget=forms.TextInput(attrs=LIKE_CODE))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["typed"].label = f"Type {self.suffix} to confirm"
        self.fields["typed"].help_text = "The last four characters of the run's id."

    @property
    def suffix(self) -> str:
        return str(self.run.pk)[-SUFFIX:]

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self.suffix:
            raise forms.ValidationError(f"This is not {self.suffix}. Is it the right run?")
        return typed
