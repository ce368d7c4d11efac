"""What the environment says in vain, told by `manage.py check` and `manage.py doctor`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks


def variables_are_known(**_: Any) -> list[checks.CheckMessage]:
    """A variable that begins like one of ours, and is none, is most likely misspelt."""
    return [
        checks.Warning(
            f"{name} is set in the environment, but nothing is called so",
            hint=f"Did you mean {near}? Rename it, or take it out."
            if near
            else "Take it out: signalbox/settings.py lists what there is.",
            id="signalbox.W001",
        )
        for name, near in settings.UNKNOWN_VARIABLES.items()
    ]
