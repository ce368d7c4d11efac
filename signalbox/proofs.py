"""Who is told of anchors of the audit log, and who is called when it is not what it was.

Both go through the outbox: by mail to AUDIT_MAIL, as JSON to the destination AUDIT_WEBHOOK. Alarms
go to all who may read the log, too. A mail holds no names and no contents of entries but their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.conf import settings
from django.urls import reverse

from accounts import clock
from accounts.backends import PeopleBackend
from audit import canonical
from audit.anchors import Anchor
from ledger import outbox
from signalbox import mails

MAIL = "audit.mail"
"""The destination of mails about the audit log."""
READS = "audit.view_entry"


def tell(anchor: Anchor) -> None:
    """In a transaction: make an anchor known outside."""
    text = f"The audit log is anchored. Keep this mail: it proves the log later.\n\n{_line(anchor)}"
    subject = f"Anchor of the audit log at place {anchor.seq}"
    _mail(settings.AUDIT_MAIL, subject, text, key=f"anchor {anchor.at}")
    _post({"event": "anchor", "anchor": _line(anchor)}, key=f"anchor {anchor.at}")


def alarm(found: Sequence[str]) -> None:
    """In a transaction: call people because the log is not what it was; once a day for one finding.

    `found` says what is wrong, in sentences.
    """
    readers = (user.email for user in PeopleBackend().with_perm(READS))
    key = f"alarm {clock.now().date()} {found[0]}"[:200]
    text = "\n".join(
        (
            "The audit log could not be proved:\n",
            *(f"- {sentence}" for sentence in found),
            "\nKeep the database as it is, keep the file of anchors, and look with",
            "manage.py verify_audit. The last entries are on",
            f"{settings.SIGNALBOX_URL.rstrip('/')}{reverse('audit:list')}?verb=log",
        )
    )
    _mail({*settings.AUDIT_MAIL, *readers}, "The audit log is NOT intact", text, key=key)
    _post({"event": "alarm", "found": list(found)}, key=key)


def _mail(addresses: Iterable[str], subject: str, text: str, *, key: str) -> None:
    mails.queue(MAIL, addresses, subject, text, key=key)


def _post(event: dict[str, object], *, key: str) -> None:
    if settings.AUDIT_WEBHOOK:
        outbox.add(settings.AUDIT_WEBHOOK, canonical.visible(event), dedupe=key)


def _line(anchor: Anchor) -> str:
    return anchor.line.decode().strip()
