"""The broker as Celery uses it."""

from __future__ import annotations

import uuid

import pytest
from django.conf import settings

from signalbox.celery import app


@pytest.fixture
def channel():
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1)
        yield connection.default_channel


def test_the_settings_reach_the_channel(channel):
    if "redis" not in settings.CELERY_BROKER_URL:
        pytest.skip("another kind of broker is configured")
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS

    assert channel.visibility_timeout == options["visibility_timeout"] == 60
    assert channel.unacked_restore_interval == options["unacked_restore_interval"]
    assert channel.unacked_restore_throttle == options["unacked_restore_throttle"]


def test_a_task_that_is_sent_lies_in_its_queue(channel):
    queue = f"test-{uuid.uuid4().hex}"

    app.send_task("nobody.takes.this", args=("an-id",), queue=queue, retry=False)

    with channel.connection.client.SimpleQueue(queue) as waiting:
        message = waiting.get(timeout=5)
        assert message.headers["task"] == "nobody.takes.this"
        message.ack()
        waiting.queue.delete()


@pytest.mark.parametrize(
    ("task", "queue"),
    [("runs.tasks.drive", "runs"), ("runs.tasks.sweep", "sweep"), ("audit.tasks.seal", "sweep")],
)
def test_what_looks_after_runs_has_a_queue_apart_from_what_drives_them(task, queue):
    assert app.amqp.router.route({}, task)["queue"].name == queue
