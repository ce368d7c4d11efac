"""The filters of the list of decided requests, as they stand in its address."""

from __future__ import annotations

from django import forms

from accounts.moments import MomentField
from accounts.speech import later as _
from approvals.queries import Closed


class DecidedForm(forms.Form):
    """What to show. An empty field shows all."""

    q = forms.CharField(
        label=_("Search"),
        max_length=200,
        required=False,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Words of the title"), "autocomplete": "off"}
        ),
    )
    start = MomentField(label=_("From"), required=False)
    end = MomentField(label=_("Before"), required=False)

    def asked(self, *, mine: bool) -> Closed:
        """What a valid form asks for."""
        sent = self.cleaned_data
        return Closed(mine=mine, since=sent["start"], until=sent["end"], text=sent["q"])

    @property
    def used(self) -> bool:
        return any(self.data.get(name) for name in self.fields)
