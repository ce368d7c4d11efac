"""Every address. The apps write whole paths, so that one app may add pages below another's."""

from __future__ import annotations

from django.urls import include, path
from django.views.generic import RedirectView

from accounts import views as accounts
from accounts.saved import views as saved
from signalbox import views
from signalbox.components import pages as components
from signalbox.palette import pages as palette
from signalbox.shortcuts import pages as shortcuts

urlpatterns = [
    path("", views.overview, name="overview"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("components/", components.index, name="components"),
    path("components/tick/", components.tick, name="components_tick"),
    path("go/", palette.go, name="go"),
    path("keys/", shortcuts.keys, name="keys"),
    path("me/", accounts.me, name="me"),
    path("me/views/", saved.saved_views, name="saved_views"),
    path("me/views/save/", saved.save, name="save_view"),
    path("me/views/<int:view_id>/rename/", saved.rename, name="rename_view"),
    path("me/views/<int:view_id>/delete/", saved.delete, name="delete_view"),
    path("me/clock/", accounts.clock, name="clock"),
    path("me/elsewhere/", accounts.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("me/waiting/", views.waiting, name="waiting"),
    # Before allauth's own: who may have an account, and under which address, an administrator says.
    path("accounts/signup/", accounts.closed),
    path("accounts/email/", accounts.closed),
    path("accounts/sessions/", RedirectView.as_view(pattern_name="me")),  # shown there
    path("accounts/", include("allauth.urls")),
    path("", include("runs.urls")),
    path("", include("approvals.urls")),
    path("", include("ledger.urls")),
    path("", include("audit.urls")),
]

handler400 = "signalbox.errors.bad_request"
handler403 = "signalbox.errors.permission_denied"
handler404 = "signalbox.errors.page_not_found"
handler429 = "signalbox.errors.too_many_requests"
handler500 = "signalbox.errors.server_error"
