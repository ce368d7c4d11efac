"""A web process on services of its own, which are taken away from it and given back.

Run as `python -m tests.signalbox.outages_process` with the environment of a scratch state folder;
the last line it prints is one JSON object of what it saw.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "signalbox.settings"
django.setup()

from django.core.management import call_command  # noqa: E402  (settings first)
from django.db import close_old_connections, connections  # noqa: E402
from django.test import Client  # noqa: E402

from runs import dispatch  # noqa: E402
from runs.models import Run  # noqa: E402
from signalbox.embedded import postgres, valkey  # noqa: E402
from tests.support.fleet import well  # noqa: E402
from tests.support.people import person  # noqa: E402

STATE = Path(os.environ["SIGNALBOX_STATE"])
HX = {"HX-Request": "true"}


def main() -> None:
    call_command("migrate", verbosity=0)
    client = Client(raise_request_exception=False)
    well()
    client.force_login(person("Ada"))
    seen = {"before": client.get("/").status_code, **_broker(client), **_database(client)}
    sys.stdout.write(f"\n{json.dumps(seen)}\n")


def _broker(client: Client) -> dict[str, Any]:
    valkey.stop(STATE)
    dispatch._heard = dispatch.NOT_ASKED
    began = time.monotonic()
    overview = client.get("/")
    started = client.post("/runs/new/", {"given": '{"order_id": "10366"}', "token": "t"})
    seconds = time.monotonic() - began
    page = client.get(started.headers["Location"])
    away = {
        "broker overview": overview.content.decode(),
        "broker started": started.status_code,
        "broker run": Run.objects.get().status,
        "broker page": page.content.decode(),
        "broker workers": client.get("/workers/").content.decode(),
        "broker seconds": seconds,
    }
    valkey.ensure(STATE)
    dispatch._heard = dispatch.NOT_ASKED
    return away | {"broker back": client.get("/").content.decode()}


def _database(client: Client) -> dict[str, Any]:
    postgres.stop(STATE)
    page, fragment = client.get("/runs/"), client.get("/", headers=HX)
    posted = client.post("/runs/new/", {"given": "{}"})
    probe = Client().get("/readyz")
    away = {
        "database page": [page.status_code, page.headers.get("Retry-After"), page.content.decode()],
        "database fragment": [fragment.status_code, fragment.content.decode()],
        "database posted": posted.status_code,
        "database probes": [probe.status_code, Client().get("/healthz").status_code],
    }
    postgres.ensure(STATE)
    close_old_connections()  # as a server does before every request, and a test's client does not
    return away | {"database back": client.get("/").status_code}


if __name__ == "__main__":
    main()
    connections.close_all()
