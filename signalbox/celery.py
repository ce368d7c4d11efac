"""The Celery app: tasks carry an id and ring; what to do next stands in the database.

Celery logs and forgets what a receiver of its signals raises, so what must not start ends the
process itself.

Order of a worker's life: `worker_init` and `celeryd_after_setup` in the parent, before any fork;
then each child drives, and opens its own pools and heartbeat at first use, since a socket must not
be shared after a fork; `worker_shutting_down` in the parent when it is asked to stop.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, NoReturn

import django
from celery import Celery, signals
from django.conf import settings

from signalbox.embedded import services

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")

app = Celery("signalbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

RUNS = settings.CELERY_TASK_DEFAULT_QUEUE
_stopping = threading.Event()


@signals.beat_init.connect
@signals.worker_init.connect
def use_embedded_services(**_: object) -> None:
    try:
        services.use(settings.STATE_DIR)
    except Exception as exc:
        _end(f"The embedded services cannot be used. {exc}")


@signals.beat_init.connect
def tick(**_: object) -> None:
    """Beat says that it ticks whenever it sends something, also while the broker is away."""
    django.setup()
    from runs import signs  # noqa: PLC0415 (models exist only after django.setup)

    def ticked(**_: object) -> None:
        signs.tick()

    signals.before_task_publish.connect(ticked, weak=False)


@signals.celeryd_after_setup.connect
def prepare(sender: str, instance: Any, **_: object) -> None:
    """In the parent, before the fork: refuse to start what must not drive, load the agents."""
    django.setup()
    from ledger.inventory import findings  # noqa: PLC0415 (models exist only after django.setup)
    from runs import fitness, workers  # noqa: PLC0415

    workers.call_me(sender)
    if RUNS in instance.app.amqp.queues.consume_from:
        try:
            fitness.require()
            findings.require(findings.survey())
        except Exception as exc:
            _end(f"This worker must not drive. {exc}")


@signals.worker_ready.connect
def announce(sender: Any, **_: object) -> None:
    """In the parent: say which agents this worker offers, and keep saying that it is alive."""
    from ledger.inventory import boxes, findings  # noqa: PLC0415
    from runs import workers  # noqa: PLC0415
    from runs.picture import keeping  # noqa: PLC0415

    drives = RUNS in sender.app.amqp.queues.consume_from
    slots = int(getattr(sender.controller, "concurrency", 0) or 0)
    workers.announce(sender.hostname, drives=drives, slots=slots)
    if drives:
        boxes.announce(sender.hostname, findings.survey())
        keeping.keep()
    threading.Thread(
        target=workers.keep_announced, args=(sender.hostname, _stopping), daemon=True
    ).start()


@signals.worker_shutting_down.connect
def drain(sender: str, **_: object) -> None:
    """In the parent: the children's heartbeats see this and end their drives at the next step."""
    from runs import workers  # noqa: PLC0415

    workers.drain(sender)


@signals.worker_shutdown.connect
def leave(sender: Any, **_: object) -> None:
    from runs import workers  # noqa: PLC0415

    _stopping.set()
    workers.gone(sender.hostname)


def _end(why: str) -> NoReturn:
    """Nothing has started yet, so nothing has to be put away; and one line says it all."""
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    os._exit(1)
