"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from approvals import delegation_pages, notice_pages, policy_pages, try_pages
from approvals.aftermath import pages as aftermath_pages
from approvals.aftermath import statistics_pages
from approvals.bulk import pages as bulk_pages
from approvals.inbox import pages as inbox_pages
from approvals.review import pages as review_pages

app_name = "approvals"
urlpatterns = [
    path("approvals/", inbox_pages.inbox, name="inbox"),
    path("approvals/bulk/", bulk_pages.kinds, name="bulk"),
    path("approvals/bulk/approve/", bulk_pages.approve, name="bulk_approve"),
    path("approvals/bulk/reject/", bulk_pages.reject, name="bulk_reject"),
    path("approvals/policies/", policy_pages.policies, name="policies"),
    path("approvals/policies/history/", policy_pages.history, name="policy_history"),
    path("approvals/policies/history/<int:number>/", policy_pages.version, name="policy_version"),
    path("approvals/policies/try/", policy_pages.try_out, name="policy_try"),
    path("approvals/policies/new/", policy_pages.edit, name="policy_new"),
    path("approvals/policies/edit/<path:name>/", policy_pages.edit, name="policy_edit"),
    path("approvals/policies/remove/<path:name>/", policy_pages.remove, name="policy_remove"),
    path("approvals/delegations/", delegation_pages.delegations, name="delegations"),
    path(
        "approvals/delegations/<int:delegation_id>/end/",
        delegation_pages.end,
        name="delegation_end",
    ),
    path("approvals/try/", try_pages.try_out, name="try"),
    path("approvals/statistics/", statistics_pages.statistics, name="statistics"),
    path("approvals/<uuid:request_id>/went-wrong/", aftermath_pages.report, name="mishap"),
    path(
        "approvals/went-wrong/<int:mishap_id>/withdraw/",
        aftermath_pages.withdraw,
        name="mishap_withdraw",
    ),
    path("approvals/<uuid:request_id>/", review_pages.review, name="review"),
    path("approvals/<uuid:request_id>/claim/", notice_pages.claim, name="claim"),
    path("me/notices/", notice_pages.notices, name="notices"),
    path("approvals/decisions/<uuid:decision_id>/", review_pages.decision, name="decision"),
    path("approvals/<uuid:request_id>/payload.json", review_pages.payload, name="payload"),
]
