"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from ledger import by_hand, outbox_pages, views

app_name = "ledger"
urlpatterns = [
    path("ledger/", views.index, name="list"),
    path("ledger/stops/", by_hand.emergency_stops, name="stops"),
    path("ledger/stops/<int:stop_id>/lift/", by_hand.lift, name="lift"),
    path("ledger/outbox/", outbox_pages.index, name="outbox"),
    path("ledger/outbox/<uuid:uid>/retry/", outbox_pages.retry, name="outbox_retry"),
    path("ledger/outbox/all/<path:destination>/retry/", outbox_pages.retry_all, name="outbox_all"),
    path("ledger/<uuid:uid>/", views.effect, name="effect"),
    path("ledger/<uuid:uid>/settle/", by_hand.settle, name="settle"),
]
