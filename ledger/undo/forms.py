"""The form with which a person has effects taken back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext

from accounts.speech import later as _
from ledger.forms import LONGEST_REASON
from runs.forms import LIKE_CODE, SUFFIX


class UndoForm(forms.Form):
    """Why, and of which run; `seen` says what was shown."""

    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("Why is it not wanted?"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit log, with your name."),
        error_messages={"required": _("A reason is required. Write one and try again.")},
    )
    typed = forms.CharField(max_length=40, widget=forms.TextInput(attrs=LIKE_CODE))

    def __init__(self, *args: Any, run_id: UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.suffix = str(run_id)[-SUFFIX:]
        self.fields["typed"].label = gettext("Type {end} to confirm").format(end=self.suffix)
        self.fields["typed"].help_text = _("The last four characters of the run's id.")

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self.suffix:
            raise forms.ValidationError(
                gettext("This is not {end}. Is it the right run?").format(end=self.suffix)
            )
        return typed
