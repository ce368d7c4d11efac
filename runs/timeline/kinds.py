"""The kinds of events by which the table of a timeline can be filtered."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from runs import ports

STEPS, ATTEMPTS = "steps", "attempts"
LABELS: dict[str, Promise] = {STEPS: _("Steps"), ATTEMPTS: _("Attempts")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One choice of the filter."""

    slug: str
    label: str


def of(user: User) -> list[Kind]:
    """What this person may choose from: besides ours, what the layers above tell them."""
    told = [story.tab for story in ports.stories() if user.has_perm(story.tab.permission)]
    ours = [Kind(slug=slug, label=str(label)) for slug, label in LABELS.items()]
    return [*ours, *(Kind(slug=tab.slug, label=tab.label) for tab in told)]
