"""What Celery asks of the audit log."""

from __future__ import annotations

from celery import shared_task

from audit import seal as sealer


@shared_task
def seal() -> int:
    """Every second."""
    return sealer.seal()


@shared_task
def seal_all() -> int:
    """Every hour: also what committed so late that `seal` no longer looks for it."""
    return sealer.seal(full=True)
