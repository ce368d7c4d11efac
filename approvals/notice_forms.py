"""The form on which people choose what they are told."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.speech import later as _
from approvals.models import NoticeChoice
from approvals.notices import Event

GATHER = (
    (1, _("Within a minute")),
    (10, _("Every 10 minutes")),
    (60, _("Every hour")),
)


class ChoiceForm(forms.Form):
    """Which events, how gathered, and when not."""

    told = forms.MultipleChoiceField(
        label=_("Send me a mail when"),
        choices=Event.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    gather = forms.TypedChoiceField(
        label=_("How often"),
        coerce=int,
        choices=GATHER,
        help_text=_("What happens meanwhile comes in one mail."),
    )
    quiet_from = forms.TimeField(
        label=_("Quiet from"),
        required=False,
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
    )
    quiet_to = forms.TimeField(
        label=_("Quiet until"),
        required=False,
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
        help_text=_("In this time you get no mail. Leave both empty for none."),
    )
    urgent_comes_through = forms.BooleanField(
        label=_("Send a mail in quiet hours if the deadline would pass meanwhile"), required=False
    )

    def __init__(self, *args: Any, choice: NoticeChoice, can_help: bool, **kwargs: Any) -> None:
        """`can_help`: this person can put people into groups, and is told when that is needed."""
        super().__init__(*args, **kwargs)
        events = [
            (event.value, event.label)
            for event in Event
            if can_help or event is not Event.NOBODY_CAN_DECIDE
        ]
        self.fields["told"].choices = events  # type: ignore[attr-defined]
        self._kept = [event for event in choice.muted if event not in dict(events)]
        self.initial = {
            "told": [event for event in Event.values if event not in choice.muted],
            "gather": choice.gather,
            "quiet_from": choice.quiet_from,
            "quiet_to": choice.quiet_to,
            "urgent_comes_through": choice.urgent_comes_through,
        }
        if choice.gather not in dict(GATHER):
            own = (
                choice.gather,
                _("Every {n} minutes", n=choice.gather) if choice.gather else _("At once"),
            )
            self.fields["gather"].choices = (own, *GATHER)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        start, end = cleaned.get("quiet_from"), cleaned.get("quiet_to")
        if (start is None) != (end is None) and not self.errors:
            self.add_error(
                "quiet_to" if end is None else "quiet_from", _("Give both times, or none.")
            )
        elif start is not None and start == end:
            self.add_error("quiet_to", _("The end must be another time than the start."))
        return cleaned

    @property
    def chosen(self) -> dict[str, Any]:
        """As the columns of NoticeChoice; of a valid form."""
        told = self.cleaned_data["told"]
        return {
            "muted": [
                *self._kept,
                *(event for event, _label in self.fields["told"].choices if event not in told),  # type: ignore[attr-defined]
            ],
            "gather": self.cleaned_data["gather"],
            "quiet_from": self.cleaned_data["quiet_from"],
            "quiet_to": self.cleaned_data["quiet_to"],
            "urgent_comes_through": self.cleaned_data["urgent_comes_through"],
        }
