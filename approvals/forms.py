"""What the review page sends: a verdict, a comment, and which form and which payload it was."""

from __future__ import annotations

from django import forms

from accounts.speech import later as _
from approvals.decisions import LONGEST_COMMENT, LONGEST_TOKEN
from approvals.status import Verdict

PRESS = _("Press one of the buttons.")


def wrong(form: forms.Form) -> dict[str, list[str]]:
    """What is wrong with which field, by the codes of Django's errors: never what was sent."""
    return {
        name: [str(error.code or "invalid") for error in found]
        for name, found in form.errors.as_data().items()
    }


class DecisionForm(forms.Form):
    """One person's verdict. Whether it counts is for `decisions.decide` to say."""

    verdict = forms.ChoiceField(
        required=False,
        choices=[(each.value, each.label) for each in (Verdict.APPROVED, Verdict.REJECTED)],
        error_messages={"invalid_choice": PRESS},
    )
    choice = forms.CharField(required=False, max_length=20)
    """Which button was pressed, where there are more than two: see `approvals.reply_forms`."""
    comment = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    reason = forms.CharField(required=False, max_length=100)
    """One of the policy's reasons to reject; says nothing about an approval."""
    read_all = forms.BooleanField(required=False, label=_("I have read all of it."))
    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)
    token = forms.CharField(max_length=LONGEST_TOKEN, widget=forms.HiddenInput)

    def clean(self) -> dict[str, object]:
        sent = super().clean() or {}
        if not sent.get("verdict") and not sent.get("choice") and "verdict" not in self.errors:
            self.add_error("verdict", PRESS)
        return sent
