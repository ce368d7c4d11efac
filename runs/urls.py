"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from runs import confirmations, run_pages, views
from runs.fleet import pages as fleet
from runs.listing import pages as listing
from runs.operations import pages as operations
from runs.timeline import pages as timeline
from runs.trace import attempt_pages, downloads, replay_pages
from runs.trace import pages as trace

app_name = "runs"
urlpatterns = [
    path("runs/", listing.index, name="list"),
    path("runs/new/", views.new, name="new"),
    path("runs/operations/", operations.index, name="operations"),
    path("runs/operations/new/", operations.new, name="operations_new"),
    path("runs/operations/<uuid:operation_id>/", operations.operation, name="operation"),
    path("runs/operations/<uuid:operation_id>/stop/", operations.stop, name="operation_stop"),
    path("runs/<uuid:run_id>/", timeline.run, name="run"),
    path("runs/<uuid:run_id>.json", downloads.run, name="export"),
    path("runs/<uuid:run_id>/state/", trace.state, name="state"),
    path("runs/<uuid:run_id>/audit/", run_pages.audit, name="audit"),
    path("runs/<uuid:run_id>/replay/", replay_pages.step, name="replay"),
    path("runs/<uuid:run_id>/attempts/", attempt_pages.index, name="attempts"),
    path("runs/<uuid:run_id>/checkpoints/", trace.checkpoints, name="checkpoints"),
    path(
        "runs/<uuid:run_id>/checkpoints/<str:checkpoint_id>/",
        trace.checkpoint,
        name="checkpoint",
    ),
    path(
        "runs/<uuid:run_id>/checkpoints/<str:checkpoint_id>.json",
        downloads.checkpoint,
        name="checkpoint_file",
    ),
    path("runs/<uuid:run_id>/cancel/", confirmations.confirm, {"name": "cancel"}, name="cancel"),
    path("runs/<uuid:run_id>/retry/", confirmations.confirm, {"name": "retry"}, name="retry"),
    path("runs/<uuid:run_id>/resume/", confirmations.confirm, {"name": "resume"}, name="resume"),
    path(
        "runs/<uuid:run_id>/ask-again/",
        confirmations.confirm,
        {"name": "ask_again"},
        name="ask_again",
    ),
    path("runs/<uuid:run_id>/<slug:slug>/", run_pages.tab, name="tab"),
    path("workers/", fleet.workers, name="workers"),
]
