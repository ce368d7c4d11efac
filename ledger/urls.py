"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from ledger import by_hand, views
from ledger.browse import export_pages
from ledger.browse import pages as browse
from ledger.confirmation import pages as hook_pages
from ledger.drift import pages as drift_pages
from ledger.inventory import pages as tools
from ledger.outbox import pages as outbox
from ledger.reconcile import pages as reconcile_pages
from ledger.undo import pages as undo_pages

app_name = "ledger"
urlpatterns = [
    path("hooks/<slug:provider>/", hook_pages.receive, name="hook"),
    path("ledger/", browse.index, name="list"),
    path("ledger/export/", export_pages.export, name="export"),
    path("ledger/reconcile/", reconcile_pages.index, name="reconcile"),
    path("ledger/<uuid:uid>/look/", reconcile_pages.look, name="look"),
    path("ledger/tools/", tools.index, name="tools"),
    path("ledger/undo/<uuid:run_id>/", undo_pages.undo, name="undo"),
    path("ledger/stops/", by_hand.emergency_stops, name="stops"),
    path("ledger/stops/<int:stop_id>/lift/", by_hand.lift, name="lift"),
    path("ledger/outbox/", outbox.index, name="outbox"),
    path("ledger/outbox/<uuid:uid>/retry/", outbox.retry, name="outbox_retry"),
    path("ledger/outbox/all/<path:destination>/retry/", outbox.retry_all, name="outbox_all"),
    path("ledger/drift/<uuid:uid>/", drift_pages.drift, name="drift"),
    path("ledger/<uuid:uid>/", views.effect, name="effect"),
    path("ledger/<uuid:uid>/settle/", by_hand.settle, name="settle"),
]
