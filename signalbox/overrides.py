"""Mails about acts by hand that break a safety rule: to everybody else who could have done them.

A mail names who acted, what, on which run or how many and why, and leads to the page. It holds
nothing that an agent wrote but the run's title, with hidden characters shown.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.backends import PeopleBackend
from accounts.models import User
from runs.overrides import Override
from signalbox import mails, visible

MAIL = "operators.mail"
"""The destination of these mails."""


def tell(override: Override) -> None:
    """In the transaction that acts."""
    subject = _("%(person)s %(did)s") % {"person": override.actor.label, "did": override.did}
    what = f"{subject}:\n{visible.plain(override.about)}" if override.about else f"{subject}."
    text = _(
        "%(what)s\n\nReason: %(reason)s\n\n%(url)s\n\n"
        "You get this because you may do the same. If it was wrong, talk to %(person)s; the audit"
        " log keeps it."
    ) % {
        "person": override.actor.label,
        "what": what,
        "reason": visible.plain(override.reason),
        "url": f"{settings.SIGNALBOX_URL.rstrip('/')}{override.url}",
    }
    mails.queue(MAIL, [user.email for user in others(override)], subject, text, key=override.key)


def others(override: Override) -> list[User]:
    """Everybody who has the permission and may sign in, but who acted."""
    found = PeopleBackend().with_perm(override.permission, include_superusers=False)
    acted = override.actor.user_id
    return [user for user in found if user.may_sign_in and user.pk != acted]
