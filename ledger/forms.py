"""The forms of what a person may do in the ledger."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext

from accounts.speech import later as _
from ledger.models import Effect, Stop
from ledger.rows import LONGEST_REFERENCE
from ledger.stops import LONGEST_NAME
from runs.forms import LIKE_CODE, SUFFIX

LONGEST_REASON = 2000
COMPENSATE = "compensate"
"""A verdict: it happened, and is to be taken back."""


def _reason(label: str = _("Reason")) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit log, with your name."),
        error_messages={"required": _("A reason is required. Write one and try again.")},
    )


class DependsField(forms.CharField):
    """Required by what else was chosen, as its hint says, so not marked as optional."""

    depends = True


class SettleForm(forms.Form):
    """How an effect in doubt ended, says a person."""

    verdict = forms.ChoiceField(
        label=_("What did you find out?"),
        choices=[
            ("happened", _("It happened")),
            ("did_not_happen", _("It did not happen: allow one attempt")),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose what you found out.")},
    )
    reference = DependsField(
        label=_("The provider's reference"),
        max_length=LONGEST_REFERENCE,
        required=False,
        widget=forms.TextInput(attrs=LIKE_CODE),
        help_text=_("Required if it happened: what proves it, such as the number of the refund."),
    )
    reason = _reason(_("How do you know?"))
    evidence = forms.CharField(
        label=_("Evidence"),
        max_length=LONGEST_REASON,
        required=False,
        help_text=_("Where others can see it, such as an address or the number of a case."),
    )
    typed = forms.CharField(max_length=40, widget=forms.TextInput(attrs=LIKE_CODE))

    def __init__(self, *args: Any, effect: Effect, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.suffix = str(effect.uid)[-SUFFIX:]
        if effect.undo:
            back = gettext(
                "It happened, but is not wanted: end the run, take it back ({tool})"
            ).format(tool=effect.undo)
            choices = [*self.fields["verdict"].choices, (COMPENSATE, back)]  # type: ignore[attr-defined]  # a ChoiceField, as above
            self.fields["verdict"].choices = choices  # type: ignore[attr-defined]  # likewise
        self.fields["typed"].label = gettext("Type {end} to confirm").format(end=self.suffix)
        self.fields["typed"].help_text = _("The last four characters of the effect's id.")

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self.suffix:
            raise forms.ValidationError(
                gettext("This is not {end}. Is it the right effect?").format(end=self.suffix)
            )
        return typed

    def clean(self) -> dict[str, Any] | None:
        sent = super().clean()
        happened = self.cleaned_data.get("verdict") in ("happened", COMPENSATE)
        if happened and not self.cleaned_data.get("reference", ""):
            self.add_error("reference", _("Say what proves that it happened."))
        return sent


class StopForm(forms.Form):
    """An emergency stop to be switched on."""

    scope = forms.ChoiceField(
        label=_("Stop"),
        choices=Stop.Scope.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose what to stop.")},
    )
    name = DependsField(
        label=_("Which agent or tool"),
        max_length=LONGEST_NAME,
        required=False,
        widget=forms.TextInput(attrs={"list": "names"} | LIKE_CODE),
        help_text=_("Exactly as it is called in the ledger. Leave it empty for everything."),
    )
    reason = _reason()

    def clean(self) -> dict[str, Any] | None:
        sent = super().clean()
        scope, name = self.cleaned_data.get("scope"), self.cleaned_data.get("name", "").strip()
        if scope == Stop.Scope.EVERYTHING and name:
            self.add_error("name", _("Leave this empty to stop everything."))
        if scope in (Stop.Scope.AGENT, Stop.Scope.TOOL) and not name:
            self.add_error("name", _("Name the agent or the tool."))
        return sent


class AgainForm(forms.Form):
    """Why a message is sent again that was given up."""

    reason = _reason()


class AcceptForm(forms.Form):
    """Why a run may do something else than before."""

    reason = _reason()


class LiftForm(forms.Form):
    """Why a stop is not needed any more."""

    reason = _reason()
