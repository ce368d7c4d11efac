"""Signing in and out, and what proves who somebody is, as entries of the audit log.

1. Of a name that nobody has, nothing is kept: people type passwords into the wrong field.
2. A sign-in that cannot be recorded does not happen: the error ends the request.
"""

from __future__ import annotations

from collections.abc import Mapping

from allauth.account import signals as account
from allauth.mfa import signals as mfa
from django.contrib.auth import signals
from django.dispatch import receiver

from accounts.actors import Actor
from accounts.models import User
from accounts.signals import identity_confirmed, signed_out_elsewhere
from audit import trail

NOBODY = Actor(kind="user", user_id=None, label="Somebody not signed in", entry="page")


@receiver(signals.user_logged_in, dispatch_uid="audit")
def signed_in(user: User, **_: object) -> None:
    _record("person.signed_in", user)


@receiver(signals.user_logged_out, dispatch_uid="audit")
def signed_out(user: User | None, **_: object) -> None:
    if user is not None:
        _record("person.signed_out", user)


@receiver(signed_out_elsewhere, dispatch_uid="audit")
def signed_out_of_others(user: User, ended: int, **_: object) -> None:
    _record("person.signed_out_elsewhere", user, data={"browsers": ended})


@receiver(signals.user_login_failed, dispatch_uid="audit")
def sign_in_failed(credentials: Mapping[str, object], **_: object) -> None:
    name = str(credentials.get("email") or credentials.get("username") or "")
    meant = User.objects.filter(email__iexact=name).first() if name else None
    trail.record(
        "person.sign_in_failed",
        actor=NOBODY,
        target=("person", str(meant.pk) if meant else "unknown"),
        allowed=False,
        reason=f"as {meant.label}" if meant else "as nobody we know",
    )


@receiver(identity_confirmed, dispatch_uid="audit")
def confirmed(user: User, method: str, **_: object) -> None:
    _record("person.reauthenticated", user, method)


@receiver(mfa.authenticator_used, dispatch_uid="audit")
def confirmed_by_device(
    user: User, authenticator: object, reauthenticated: bool = False, **_: object
) -> None:
    if reauthenticated:
        _record("person.reauthenticated", user, str(getattr(authenticator, "type", "")))


@receiver(mfa.authentication_failed, dispatch_uid="audit")
def device_refused(user: User, **_: object) -> None:
    trail.record(
        "person.sign_in_failed",
        actor=NOBODY,
        target=("person", str(user.pk)),
        allowed=False,
        reason=f"as {user.label}, at the second step",
    )


@receiver(mfa.authenticator_added, dispatch_uid="audit added")
def device_added(user: User, authenticator: object, **_: object) -> None:
    _record("person.changed", user, f"added {getattr(authenticator, 'type', 'a device')}")


@receiver(mfa.authenticator_removed, dispatch_uid="audit removed")
def device_removed(user: User, authenticator: object, **_: object) -> None:
    _record("person.changed", user, f"removed {getattr(authenticator, 'type', 'a device')}")


@receiver((account.password_changed, account.password_set), dispatch_uid="audit")
def password_changed(user: User, **_: object) -> None:
    _record("person.changed", user, "changed the password")


@receiver(account.password_reset, dispatch_uid="audit")
def password_reset(user: User, **_: object) -> None:
    _record("person.changed", user, "set a new password by the link in a mail")


def _record(verb: str, user: User, reason: str = "", data: object = None) -> None:
    trail.record(
        verb,
        actor=Actor.person(user, entry="page"),
        target=("person", str(user.pk)),
        reason=reason,
        data=data,
    )
