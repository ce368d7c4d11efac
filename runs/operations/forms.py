"""What somebody fills in to have one thing done to many runs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from runs.forms import LIKE_CODE
from runs.operations import selection
from runs.operations.kinds import Kind


class OrderForm(forms.Form):
    """One reason for all; for what breaks a safety rule, their number as well."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit log with each of these runs, with your name."),
    )
    typed = forms.CharField(max_length=10, widget=forms.TextInput(attrs=LIKE_CODE))
    asked = forms.CharField(widget=forms.HiddenInput, max_length=8000)
    """The address that led here."""
    meant = forms.CharField(widget=forms.HiddenInput)
    """Which runs were shown, and how each stood."""
    token = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def __init__(self, *args: Any, kind: Kind, count: int = 0, **kwargs: Any) -> None:
        """`count`: how many runs are shown; where the form comes back, it says so itself."""
        super().__init__(*args, **kwargs)
        if not kind.fresh:
            del self.fields["typed"]
            return
        count = len(self.runs) if self.is_bound else count
        typed = self.fields["typed"]
        typed.label = gettext("Type %(count)s to confirm") % {"count": count}
        typed.help_text = gettext("The number of runs that this is done to.")

    @property
    def runs(self) -> list[tuple[UUID, str]]:
        """Those that were shown."""
        return selection.read_meant(str(self.data.get("meant", "")))

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip()
        if typed != str(len(self.runs)):
            raise forms.ValidationError(
                gettext("This is not %(count)s. Are these the right runs?")
                % {"count": len(self.runs)}
            )
        return typed
