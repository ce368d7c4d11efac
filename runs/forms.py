"""The forms of the operators' pages."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.speech import later as _
from runs import admission, errors
from runs.models import Run

SUFFIX = 4
"""Characters of an id that somebody types to confirm."""
LIKE_CODE = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}


class StartForm(forms.Form):
    """A new run of one agent."""

    given = forms.CharField(
        label=_("Input"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono"} | LIKE_CODE),
        help_text=_("JSON, as the agent expects it."),
    )
    key = forms.CharField(
        label=_("Idempotency key"),
        required=False,
        max_length=255,
        widget=forms.TextInput(attrs=LIKE_CODE),
        help_text=_(
            "Starting again with the same key shows the first run instead of a second one."
        ),
    )
    token = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    """Names this form, so that sending it twice starts one run."""

    def clean_given(self) -> object:
        try:
            return admission.read(self.cleaned_data["given"])
        except errors.BadInput as exc:
            raise forms.ValidationError(exc.shown) from exc


class ReasonForm(forms.Form):
    """Why somebody intervenes."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit log, with your name."),
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run


class TypedReasonForm(ReasonForm):
    """The same, for what breaks a safety rule: nobody confirms this by habit."""

    typed = forms.CharField(max_length=40, widget=forms.TextInput(attrs=LIKE_CODE))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["typed"].label = _("Type {end} to confirm", end=self.suffix)
        self.fields["typed"].help_text = _("The last four characters of the run's id.")

    @property
    def suffix(self) -> str:
        return str(self.run.pk)[-SUFFIX:]

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self.suffix:
            raise forms.ValidationError(
                _("This is not {end}. Is it the right run?", end=self.suffix)
            )
        return typed
