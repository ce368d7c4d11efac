"""Once a day the log proves itself, and is anchored if it could; else people are called.

1. Asked more often, it does nothing until a day has passed since the last time, by the log itself:
   beat may restart, or run twice.
2. The outcome is an entry (`log.proved`, `log.disproved`). So is the anchor.
3. A failed proof, and one that could not be made, calls people: AUDIT_ALARMS.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.actors import Actor
from audit import anchors, trail, verify
from audit.errors import AuditError
from audit.models import ClockTimestamp, Entry

logger = logging.getLogger(__name__)

PROVED = "log.proved"
DISPROVED = "log.disproved"
PROOFS = (PROVED, DISPROVED)
EVERY = timedelta(hours=24)
MOST_TOLD = 20
"""Problems that the entry and the alarm list; `verify_audit` lists all."""
UNPROVED = "The audit log could not be proved. Run manage.py verify_audit to see why."
SELF = Actor.system("audit log")


def run() -> bool | None:
    """Whether the log is proved and anchored; None if that was not due."""
    if not _is_due():
        return None
    try:
        report = verify.verify()
        record(report, actor=SELF)
        if report.ok:
            anchors.make(actor=SELF)
    except Exception as error:  # whatever stops a proof must not silence it
        logger.exception("the audit log could not be proved and anchored")
        known = isinstance(error, AuditError)
        _alarm([str(error) if known else f"{UNPROVED} It says: {type(error).__name__}."])
        return False
    return report.ok


def record(report: verify.Report, *, actor: Actor) -> None:
    """Write down what a proof found, and call people if it failed."""
    head = report.head
    with transaction.atomic():
        trail.record(
            PROVED if report.ok else DISPROVED,
            actor=actor,
            target=("log", str(head.seq if head else 0)),
            data={
                "checked": report.checked,
                "signed": report.signed,
                "unsealed": report.unsealed,
                "anchors": report.anchors,
                "problems": [one.what for one in report.problems[:MOST_TOLD]],
            },
        )
    if not report.ok:
        logger.error("the audit log is NOT intact: %s", report.problems[0].what)
        _alarm([one.what for one in report.problems[:MOST_TOLD]])


def _is_due() -> bool:
    recent = Entry.objects.filter(verb__in=PROOFS, at__gt=ClockTimestamp() - EVERY)
    return not recent.filter(actor_label=SELF.label).exists()


def _alarm(found: list[str]) -> None:
    with transaction.atomic():
        for alarm in settings.AUDIT_ALARMS:
            import_string(alarm)(found)
