"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from ledger import by_hand, views

app_name = "ledger"
urlpatterns = [
    path("ledger/", views.index, name="list"),
    path("ledger/stops/", by_hand.emergency_stops, name="stops"),
    path("ledger/stops/<int:stop_id>/lift/", by_hand.lift, name="lift"),
    path("ledger/<uuid:uid>/", views.effect, name="effect"),
    path("ledger/<uuid:uid>/settle/", by_hand.settle, name="settle"),
]
