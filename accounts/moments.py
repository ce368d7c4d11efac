"""Moments that people type: on the clock of their own zone, unless they write another.

1. A form gets them in UTC: the database takes none with an offset of nearly a day, as `-23:59`.
2. The first and the last year of the calendar are refused: in another zone a moment of them may be
   beyond it, and then no page could show it.
"""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, ClassVar

from django import forms

from accounts.speech import later

MINUTES = "%Y-%m-%dT%H:%M"
"""How browsers write a moment of their control for it."""
INVALID = later("Write a day and a time, such as 2026-11-29 16:20.")


class MomentField(forms.DateTimeField):
    """A day and a time, in the browser's control for them."""

    default_error_messages: ClassVar = {"invalid": INVALID}

    def __init__(self, **kwargs: Any) -> None:
        control = forms.DateTimeInput(format=MINUTES, attrs={"type": "datetime-local"})
        super().__init__(**{"widget": control} | kwargs)

    def to_python(self, value: Any) -> datetime | None:
        found = super().to_python(value)
        if found is None:
            return None
        if not MINYEAR < found.year < MAXYEAR:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return found.astimezone(UTC)
