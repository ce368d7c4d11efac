"""Forms about what went wrong, and the filters of the statistics."""

from __future__ import annotations

from datetime import timedelta

from django import forms

from accounts.models import User
from accounts.speech import joined
from accounts.speech import later as _
from approvals.aftermath.mishaps import LONGEST, LONGEST_TOKEN
from approvals.status import SEVERITIES, Severity

PERIODS = {
    "7d": (_("Last 7 days"), timedelta(days=7)),
    "30d": (_("Last 30 days"), timedelta(days=30)),
    "90d": (_("Last 90 days"), timedelta(days=90)),
    "365d": (_("Last year"), timedelta(days=365)),
}
USUAL = "30d"


class MishapForm(forms.Form):
    """What went wrong, and how badly."""

    severity = forms.ChoiceField(
        label=_("How bad was it?"),
        choices=[
            (each.value, joined(": ", (each.label, SEVERITIES[each].sentence))) for each in Severity
        ],
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose how bad it was.")},
    )
    note = forms.CharField(
        label=_("What went wrong?"),
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Shown at the request and kept in the audit log, with your name."),
        error_messages={"required": _("Write what went wrong, and save again.")},
    )
    token = forms.CharField(max_length=LONGEST_TOKEN, widget=forms.HiddenInput)


class WithdrawForm(forms.Form):
    """Why it had not gone wrong after all."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the audit log, with your name. What was said before stays readable."),
        error_messages={"required": _("A withdrawal needs a reason. Write one and try again.")},
    )


class StatisticsForm(forms.Form):
    """Which decisions to count, as it stands in the address. An empty field counts all."""

    period = forms.ChoiceField(
        label=_("Time"),
        choices=[(key, label) for key, (label, _) in PERIODS.items()],
        required=False,
    )
    policy = forms.CharField(
        label=_("Policy"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": _("Policy"), "list": "policies"}),
    )
    agent = forms.CharField(
        label=_("Agent"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": _("Agent"), "list": "agents"}),
    )
    person = forms.EmailField(
        label=_("Person"),
        required=False,
        widget=forms.EmailInput(attrs={"placeholder": _("E-mail of a person"), "list": "people"}),
    )

    def clean_person(self) -> User | None:
        address = self.cleaned_data["person"]
        if not address:
            return None
        found = User.objects.filter(email=address.strip().lower()).first()
        if found is None:
            raise forms.ValidationError(_("Nobody has this address."))
        return found
