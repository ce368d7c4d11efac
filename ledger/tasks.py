"""What the broker can ask of the ledger."""

from __future__ import annotations

from celery import shared_task

from ledger.outbox import dispatcher


@shared_task(name="ledger.tasks.dispatch")
def dispatch() -> None:
    dispatcher.dispatch()
