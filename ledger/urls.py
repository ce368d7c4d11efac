"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from ledger import views

app_name = "ledger"
urlpatterns = [
    path("ledger/", views.index, name="list"),
    path("ledger/stops/", views.emergency_stops, name="stops"),
    path("ledger/stops/<int:stop_id>/lift/", views.lift, name="lift"),
    path("ledger/<uuid:uid>/", views.effect, name="effect"),
    path("ledger/<uuid:uid>/settle/", views.settle, name="settle"),
]
