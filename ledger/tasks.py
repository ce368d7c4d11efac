"""What the broker can ask of the ledger."""

from __future__ import annotations

from celery import shared_task

from ledger.outbox import dispatcher
from ledger.reconcile import asking
from ledger.undo import work


@shared_task(name="ledger.tasks.dispatch")
def dispatch() -> None:
    dispatcher.dispatch()


@shared_task(name="ledger.tasks.look")
def look() -> None:
    asking.work()


@shared_task(name="ledger.tasks.undo")
def undo() -> None:
    work.work()
