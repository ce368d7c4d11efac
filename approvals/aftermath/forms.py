"""Forms about what went wrong, and the filters of the statistics."""

from __future__ import annotations

from datetime import timedelta

from django import forms

from accounts.models import User
from approvals.aftermath.mishaps import LONGEST, LONGEST_TOKEN
from approvals.status import SEVERITIES, Severity

PERIODS = {
    "7d": ("Last 7 days", timedelta(days=7)),
    "30d": ("Last 30 days", timedelta(days=30)),
    "90d": ("Last 90 days", timedelta(days=90)),
    "365d": ("Last year", timedelta(days=365)),
}
USUAL = "30d"


class MishapForm(forms.Form):
    """What went wrong, and how badly."""

    severity = forms.ChoiceField(
        label="How bad was it?",
        choices=[(each.value, f"{each.label}: {SEVERITIES[each].sentence}") for each in Severity],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose how bad it was."},
    )
    note = forms.CharField(
        label="What went wrong?",
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Shown at the request and kept in the audit log, with your name.",
        error_messages={"required": "Write what went wrong, and save again."},
    )
    token = forms.CharField(max_length=LONGEST_TOKEN, widget=forms.HiddenInput)


class WithdrawForm(forms.Form):
    """Why it had not gone wrong after all."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept in the audit log, with your name. What was said before stays readable.",
        error_messages={"required": "A withdrawal needs a reason. Write one and try again."},
    )


class StatisticsForm(forms.Form):
    """Which decisions to count, as it stands in the address. An empty field counts all."""

    period = forms.ChoiceField(
        label="Time",
        choices=[(key, label) for key, (label, _) in PERIODS.items()],
        required=False,
    )
    policy = forms.CharField(
        label="Policy",
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "Policy", "list": "policies"}),
    )
    agent = forms.CharField(
        label="Agent",
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "Agent", "list": "agents"}),
    )
    person = forms.EmailField(
        label="Person",
        required=False,
        widget=forms.EmailInput(attrs={"placeholder": "E-mail of a person", "list": "people"}),
    )

    def clean_person(self) -> User | None:
        address = self.cleaned_data["person"]
        if not address:
            return None
        found = User.objects.filter(email=address.strip().lower()).first()
        if found is None:
            raise forms.ValidationError("Nobody has this address.")
        return found
