"""The form with which a person has effects taken back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms

from ledger.forms import LONGEST_REASON
from runs.forms import LIKE_CODE, SUFFIX


class UndoForm(forms.Form):
    """Why, and of which run; `seen` says what was shown."""

    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why is it not wanted?",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the audit log, with your name.",
        error_messages={"required": "A reason is required. Write one and try again."},
    )
    typed = forms.CharField(max_length=40, widget=forms.TextInput(attrs=LIKE_CODE))

    def __init__(self, *args: Any, run_id: UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.suffix = str(run_id)[-SUFFIX:]
        self.fields["typed"].label = f"Type {self.suffix} to confirm"
        self.fields["typed"].help_text = "The last four characters of the run's id."

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self.suffix:
            raise forms.ValidationError(f"This is not {self.suffix}. Is it the right run?")
        return typed
