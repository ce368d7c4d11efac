"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from approvals import views

app_name = "approvals"
urlpatterns = [
    path("approvals/", views.inbox, name="inbox"),
    path("approvals/policies/", views.policies, name="policies"),
    path("approvals/<uuid:request_id>/", views.review, name="review"),
    path("approvals/decisions/<uuid:decision_id>/", views.decision, name="decision"),
    path("approvals/<uuid:request_id>/payload.json", views.payload, name="payload"),
]
