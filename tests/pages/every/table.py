"""Every page, one line each: its URL name, who opens it, and what it is about.

A new URL needs a line in PAGES, or in NOT_PAGES with the reason why nobody reads it as a page. What
a page is about is a name of the world (tests.pages.every.world).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from tests.pages.every.world import World

NOBODY = ""
"""Somebody who is not signed in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page as one person sees it."""

    url: str
    """The name of its URL; an address where it has none."""
    who: str
    about: str = ""
    query: str = ""
    status: int = 200

    def __str__(self) -> str:
        """Its name in reports of tests and as a file."""
        words = " ".join(filter(None, (self.url, self.about, self.query, self.who)))
        return "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in words)

    def address(self, world: World) -> str:
        query = f"?{self.query}" if self.query else ""
        if self.url.startswith("/"):
            return self.url + query
        return reverse(self.url, args=world.of[self.about] if self.about else ()) + query


def page(url: str, who: str, *about: str, query: str = "", status: int = 200) -> tuple[Page, ...]:
    """One page, or one about each of these."""
    return tuple(
        Page(url=url, who=who, about=each, query=query, status=status) for each in about or ("",)
    )


PAGES: tuple[Page, ...] = (
    *page("overview", "Ada"),
    *page("overview", "Ben"),
    *page("overview", "Dee"),
    *page("me", "Ada"),
    *page("go", "Ada"),
    *page("go", "Ada", query="q=refund"),
    *page("go", "Ada", query="q=nothing+of+the+kind"),
    *page("keys", "Ada"),
    *page("components", "Rut"),
    *page("saved_views", "Ada"),
    # --- runs -------------------------------------------------------------------------------------
    *page("runs:list", "Ada"),
    *page("runs:list", "Ada", query="attention=1"),
    *page("runs:list", "Ada", query="status=succeeded"),
    *page("runs:list", "Ada", query="q=nothing+like+it"),
    *page("runs:list", "Ada", query="col=owner&col=version&col=attempts&col=ended&size=75"),
    *page("runs:list", "Ada", query="q=colour:red"),
    *page("runs:list", "Cy"),
    *page("runs:list", "Dee", status=403),
    *page("runs:new", "Ada"),
    *page("runs:new", "Ada", query="agent=refund_desk"),
    *page("runs:run", "Ada", "waiting", "queued", "retrying", "running", "cancelling"),
    *page("runs:run", "Ada", "stuck", "stalled", "succeeded", "failed", "cancelled", "erased"),
    *page("runs:run", "Ada", "parked state_lost", "parked bad_answer", "parked crash_loop"),
    *page("runs:run", "Cy", "waiting"),
    *page("runs:tab", "Ada", "effects of waiting", "approvals of waiting"),
    *page("runs:state", "Ada", "waiting"),
    *page("runs:state", "Ada", "erased"),
    *page("runs:audit", "Ada", "waiting"),
    *page("runs:checkpoint", "Ada", "checkpoint"),
    *page("runs:checkpoints", "Ada", "waiting"),
    *page("runs:attempts", "Ada", "waiting"),
    *page("runs:replay", "Ada", "waiting"),
    *page("runs:operations", "Ada"),
    *page("runs:operations_new", "Ada", query="kind=cancel&all=1"),
    *page("runs:operations_new", "Ada", query="kind=resume&all=1&agent=refund_desk"),
    *page("runs:operations_new", "Ada", query="kind=cancel"),
    *page("runs:operation", "Ada", "operation", "operation done"),
    *page("runs:cancel", "Ada", "waiting"),
    *page("runs:retry", "Ada", "parked bad_answer"),
    *page("runs:resume", "Ada", "stuck"),
    *page("runs:ask_again", "Ada", "parked bad_answer"),
    *page("runs:workers", "Ada"),
    # --- approvals --------------------------------------------------------------------------------
    *page("approvals:inbox", "Ben"),
    *page("approvals:inbox", "Ben", query="view=pending"),
    *page("approvals:inbox", "Ben", query="view=decided"),
    *page("approvals:inbox", "Ben", query="view=decided&by=me"),
    *page("approvals:inbox", "Cy"),
    *page("approvals:review", "Ben", "request pending", "request masked", "request hostile"),
    *page("approvals:review", "Ben", "request too long", "request approved", "request rejected"),
    *page("approvals:review", "Ben", "request expired", "request withdrawn"),
    *page("approvals:review", "Ben", "request superseded", "request after superseded"),
    *page("approvals:review", "Cy", "request took effect", "request not delivered"),
    *page("approvals:review", "Ben", "asked batched", "asked batched_four", "asked per_call"),
    *page("approvals:review", "Ben", "asked inbox", "asked ours", "asked plain"),
    *page("approvals:review", "Ben", "asked typed_bool", "asked typed_names"),
    *page("approvals:review", "Ben", "asked typed_model", "asked typed_every_kind"),
    *page("approvals:review", "Ada", "request pending"),
    *page("approvals:bulk", "Ben"),
    *page("approvals:bulk_approve", "Ben"),
    *page("approvals:bulk_reject", "Ben"),
    *page("approvals:policies", "Rut"),
    *page("approvals:policies", "Cy"),
    *page("approvals:policy_history", "Rut"),
    *page("approvals:policy_version", "Rut", "policy version"),
    *page("approvals:policy_try", "Rut"),
    *page("approvals:policy_new", "Rut"),
    *page("approvals:policy_edit", "Rut", "policy"),
    *page("approvals:policy_remove", "Rut", "policy"),
    *page("approvals:delegations", "Ben"),
    *page("approvals:delegations", "Rut"),
    *page("approvals:delegation_end", "Ben", "delegation"),
    *page("approvals:try", "Rut"),
    *page("approvals:statistics", "Cy"),
    *page("approvals:mishap", "Cy", "request took effect"),
    *page("approvals:mishap_withdraw", "Cy", "mishap"),
    *page("approvals:notices", "Ben"),
    # --- ledger -----------------------------------------------------------------------------------
    *page("ledger:list", "Ada"),
    *page("ledger:list", "Ada", query="q=nothing+like+it"),
    *page(
        "ledger:list",
        "Ada",
        query="where=amount_cents+%3E%3D+0%2C+currency+%3D+EUR&person=Ben&role=allowed",
    ),
    *page("ledger:list", "Ada", query="where=nonsense"),
    *page("ledger:export", "Cy"),
    *page("ledger:reconcile", "Ada"),
    *page("ledger:tools", "Cy"),
    *page("ledger:effect", "Ada", "effect sent", "effect confirmed", "effect in doubt"),
    *page("ledger:effect", "Ada", "effect calling", "effect pending", "effect failed"),
    *page("ledger:effect", "Ada", "effect settled"),
    *page("ledger:settle", "Ada", "effect in doubt"),
    *page("ledger:undo", "Ada", "ended with effects"),
    *page("ledger:stops", "Ada"),
    *page("ledger:stops", "Cy"),
    *page("ledger:lift", "Ada", "stop"),
    *page("ledger:outbox", "Ada"),
    *page("ledger:outbox", "Ada", query="view=dead"),
    *page("ledger:outbox_retry", "Ada", "dead message"),
    *page("ledger:outbox_all", "Ada", "destination"),
    *page("ledger:drift", "Ada", "drift"),
    # --- audit ------------------------------------------------------------------------------------
    *page("audit:list", "Cy"),
    *page("audit:list", "Cy", query="verb=person.changed&result=allowed&actor=Ada"),
    *page("audit:list", "Cy", query="run=x"),
    *page("audit:keys", "Cy"),
    # --- signing in -------------------------------------------------------------------------------
    *page("account_login", NOBODY),
    *page("account_inactive", NOBODY),
    *page("account_reset_password", NOBODY),
    *page("account_reset_password_done", NOBODY),
    *page("account_reset_password_from_key_done", NOBODY),
    *page("account_logout", "Ada"),
    *page("account_reauthenticate", "Ada"),
    *page("account_change_password", "Ada"),
    *page("account_signup", NOBODY, status=403),
    *page("account_email", "Ada", status=403),
    *page("mfa_index", "Ada"),
    *page("mfa_index", "Fay"),
    *page("mfa_activate_totp", "Ada"),
    *page("mfa_list_webauthn", "Fay"),
    *page("mfa_add_webauthn", "Ada"),
    *page("mfa_view_recovery_codes", "Fay"),
    *page("mfa_generate_recovery_codes", "Fay"),
    *page("mfa_reauthenticate", "Fay"),
    *page("mfa_reauthenticate_webauthn", "Fay"),
    *page("mfa_deactivate_totp", "Fay"),
    *page("mfa_edit_webauthn", "Fay", "passkey"),
    *page("mfa_remove_webauthn", "Fay", "passkey"),
    # --- what is not there ------------------------------------------------------------------------
    *page("/nothing/like/it/", "Ada", status=404),
    *page("/nothing/like/it/", NOBODY, status=404),
    *page("runs:run", "Ada", "no run", status=404),
)

NOT_PAGES: dict[str, str] = {
    "healthz": "a probe",
    "readyz": "a probe",
    "waiting": "a fragment of the menu",
    "components_tick": "a fragment of the page of components",
    "clock": "only a form is sent there",
    "sign_out_elsewhere": "only a form is sent there",
    "usersessions_list": "sessions are ended on the page of one's settings",
    "save_view": "only a form is sent there",
    "rename_view": "only a form is sent there",
    "delete_view": "only a form is sent there",
    "runs:export": "a download",
    "runs:checkpoint_file": "a download",
    "runs:operation_stop": "only a form is sent there",
    "approvals:claim": "only a form is sent there",
    "approvals:decision": "leads to the page of the request",
    "approvals:payload": "a download",
    "ledger:hook": "providers write there",
    "ledger:look": "only a form is sent there",
    "audit:export": "a download",
    "account_email_verification_sent": "addresses are not verified",
    "account_confirm_email": "addresses are not verified",
    "account_set_password": "everybody has a password",
    "account_request_reauthentication_code": "nobody signs in by mailed code",
    "account_confirm_reauthentication_code": "nobody signs in by mailed code",
    "account_confirm_login_code": "nobody signs in by mailed code",
    "account_reset_password_from_key": "needs a mailed key",
    "mfa_authenticate": "stands between the password and the session",
    "mfa_download_recovery_codes": "a download",
    "mfa_login_webauthn": "scripts ask there for a challenge",
}
