"""What Celery asks of the audit log."""

from __future__ import annotations

from celery import shared_task

from audit import daily
from audit import seal as sealer


@shared_task
def seal() -> int:
    """Every second."""
    return sealer.seal()


@shared_task
def seal_all() -> int:
    """Every hour: also what committed so late that `seal` no longer looks for it."""
    return sealer.seal(full=True)


@shared_task(acks_late=False)
def prove() -> None:
    """Every ten minutes, and due once a day. A proof that outlasts the broker's patience must not
    be started again beside itself; one that was lost is due again the next time."""
    daily.run()
