"""What the broker can ask for. Tasks take ids, carry no work and may run twice."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from runs import driver, sweeper, workers


@shared_task(name="runs.tasks.drive")
def drive(run_id: str, cause: str = "doorbell") -> None:
    driver.drive(UUID(run_id), holder=workers.holder(), cause=cause)


@shared_task(name="runs.tasks.sweep")
def sweep() -> None:
    sweeper.sweep()
