"""What people may change about themselves."""

from __future__ import annotations

import itertools
import zoneinfo
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info, gettext

from accounts.models import User
from accounts.speech import later as _

AREAS = (
    *("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia"),
    *("Europe", "Indian", "Pacific"),
)
"""Areas of the zone database that are places. The rest are aliases kept for old programs."""


@cache
def time_zones() -> list[tuple[str, str | list[tuple[str, str]]]]:
    """Choices for a select: UTC, then every place, grouped by area."""
    names = sorted(
        name for name in zoneinfo.available_timezones() if name.partition("/")[0] in AREAS
    )
    choices: list[tuple[str, str | list[tuple[str, str]]]] = [("UTC", "UTC")]
    for area, places in itertools.groupby(names, key=lambda name: name.partition("/")[0]):
        choices.append((area, [(name, _place(name)) for name in places]))
    return choices


def _place(name: str) -> str:
    """America/Argentina/Buenos_Aires reads as Argentina, Buenos Aires."""
    return name.partition("/")[2].replace("/", ", ").replace("_", " ")


def languages() -> list[tuple[str, str]]:
    """Choices for a select, each language called as its own speakers call it."""
    named = [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]
    return [("", gettext("As the browser asks")), *((code, name.title()) for code, name in named)]


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """Name, look, language, how times read, and whether single keys are shortcuts."""

    language = forms.ChoiceField(
        label=_("Language"),
        choices=languages,
        required=False,
        help_text=_("Of pages and of mails to you. What is recorded stays English."),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=time_zones,
        help_text=_("Pages show times in this zone. Rules never depend on it."),
    )

    class Meta:
        model = User
        fields = (
            "first_name",
            "last_name",
            "language",
            "theme",
            "time_zone",
            "times",
            "hours",
            "shortcuts",
        )
        labels = {"theme": _("Theme")}  # noqa: RUF012  # Django's form options
        widgets = {  # noqa: RUF012  # Django's form options
            "theme": forms.RadioSelect,
            "times": forms.RadioSelect,
            "hours": forms.RadioSelect,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["first_name"].widget.attrs["autocomplete"] = "given-name"
        self.fields["last_name"].widget.attrs["autocomplete"] = "family-name"
