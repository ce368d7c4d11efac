"""What the review page sends: a verdict, a comment, and which form and which payload it was."""

from __future__ import annotations

from django import forms

from approvals.decisions import LONGEST_COMMENT, LONGEST_TOKEN
from approvals.status import Verdict


class DecisionForm(forms.Form):
    """One person's verdict. Whether it counts is for `decisions.decide` to say."""

    verdict = forms.ChoiceField(
        choices=[(each.value, each.label) for each in (Verdict.APPROVED, Verdict.REJECTED)],
        error_messages={
            "required": "Press Approve or Reject.",
            "invalid_choice": "Press Approve or Reject.",
        },
    )
    comment = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    read_all = forms.BooleanField(required=False, label="I have read all of it.")
    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)
    token = forms.CharField(max_length=LONGEST_TOKEN, widget=forms.HiddenInput)
