"""The Celery app: tasks carry an id and ring; what to do next stands in the database.

Order of a worker's life: `worker_init` in the parent, before any fork; `worker_process_init` in
each child, where pools and heartbeats are opened, since a socket must not be shared after a fork;
`worker_process_shutdown` in each child.
"""

from __future__ import annotations

import os

from celery import Celery, signals
from django.conf import settings

from signalbox.embedded import services

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")

app = Celery("signalbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.beat_init.connect
@signals.worker_init.connect
def use_embedded_services(**_: object) -> None:
    services.use(settings.STATE_DIR)
