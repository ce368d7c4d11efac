"""What the broker can ask for. Tasks take ids, carry no work and may run twice."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils.translation import gettext_noop as noop

from accounts.actors import Actor
from runs import driver, sweeper, workers
from runs.operations import work
from runs.retention import passes

PATIENCE = 300.0
"""Seconds that a pass of retention may keep a worker from driving; the next day goes on."""


@shared_task(name="runs.tasks.drive")
def drive(run_id: str, cause: str = noop("doorbell")) -> None:
    driver.drive(UUID(run_id), holder=workers.holder(), cause=cause)


@shared_task(name="runs.tasks.sweep")
def sweep() -> None:
    sweeper.sweep()


@shared_task(name="runs.tasks.retain")
def retain() -> None:
    passes.apply(actor=Actor.system("retention"), seconds=PATIENCE)


@shared_task(name="runs.tasks.operate")
def operate() -> None:
    work.work()
