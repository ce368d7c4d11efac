"""How gunicorn serves Signalbox: `gunicorn -c signalbox/gunicorn_config.py`.

Two processes of eight threads: persistent database connections are safe under threads, and pages
poll, so no request lasts. The application is loaded once, before the fork; it opens no connection
until the first request.
"""

from __future__ import annotations

import gc
import os

from django.conf import settings

from signalbox.embedded import services

wsgi_app = "signalbox.wsgi:application"
bind = os.environ.get("WEB_BIND", "127.0.0.1:8000")
preload_app = True
worker_class = "gthread"
workers = int(os.environ.get("WEB_PROCESSES", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
timeout = 60
graceful_timeout = 15
keepalive = 5
limit_request_line = 8190
"""A poll names the rows that are shown: up to 200 ids, in 4,300 characters (see `runs.listing`)."""
accesslog = None
control_socket_disable = True


def when_ready(_server: object) -> None:
    """What is loaded stays: it is neither looked through for garbage nor copied after the fork."""
    gc.freeze()


def on_starting(_server: object) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")
    services.use(settings.STATE_DIR)
