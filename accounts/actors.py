"""Who acts: a person or the system, through which entry, authenticated how and when.

1. An actor is a claim. `require` looks the person up again in the database, so a permission taken
   away counts at once, whatever the session or an object in memory still says.
2. Somebody unknown is refused.
3. Whoever may run commands on the server may do everything; what they do is recorded as theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from allauth.account.authentication import get_authentication_records
from django.db.models import DateTimeField, Func, QuerySet
from django.http import HttpRequest

from accounts import errors, groups
from accounts.models import User

Kind = Literal["user", "system"]
Entry = Literal["page", "bulk", "command", "api", "worker", "demo"]

SYSTEM_MAY: Mapping[str, frozenset[str]] = {}
"""Label of a system actor to the permissions it has. Empty: rules of the system ask nobody."""

PASSKEY = "webauthn"
"""How django-allauth calls a proof by passkey."""
CLOCK_SKEW = timedelta(seconds=30)
"""How far ahead of the database the clock of a web process may be."""


class ClockTimestamp(Func):
    """The database's clock at this moment, not at the start of the transaction."""

    function = "CLOCK_TIMESTAMP"
    output_field = DateTimeField()


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who does something, as it is written into the audit log."""

    kind: Kind
    user_id: int | None
    label: str
    entry: Entry
    authenticated_at: datetime | None = None
    """When this person last proved who they are, in this session."""
    method: str = ""
    """How: password, totp, webauthn, recovery_codes."""
    passkey_at: datetime | None = None
    """When they last did so with a passkey, in this session."""

    @classmethod
    def of(cls, request: HttpRequest, *, entry: Entry | None = None) -> Actor:
        """Whoever is signed in on this request; nobody in particular if nobody is."""
        through = entry or ("api" if request.path.startswith("/api/") else "page")
        user = request.user
        if not isinstance(user, User):
            return cls(kind="user", user_id=None, label="Somebody not signed in", entry=through)
        at, method = _last_authentication(request, user)
        passkey_at, _ = _last_authentication(request, user, only=PASSKEY)
        return cls.person(
            user, entry=through, authenticated_at=at, method=method, passkey_at=passkey_at
        )

    @classmethod
    def person(
        cls,
        user: User,
        *,
        entry: Entry,
        authenticated_at: datetime | None = None,
        method: str = "",
        passkey_at: datetime | None = None,
    ) -> Actor:
        """A known person, where there is no request to read them from."""
        return cls(
            kind="user",
            user_id=user.pk,
            label=user.label,
            entry=entry,
            authenticated_at=authenticated_at,
            method=method,
            passkey_at=passkey_at,
        )

    @classmethod
    def system(cls, name: str, *, entry: Entry = "worker") -> Actor:
        """A part of Signalbox that acts by rule, such as the sweeper."""
        return cls(kind="system", user_id=None, label=name, entry=entry)

    @classmethod
    def command(cls, name: str) -> Actor:
        """Somebody with a shell on the server, running the management command `name`."""
        return cls(kind="system", user_id=None, label=f"command line: {name}", entry="command")


def require(actor: Actor, permission: str) -> User | None:
    """Pass if `actor` has "app.codename" now, else raise NotPermitted.

    Returns the person as the database has them; None for the system.
    Call it inside the transaction that acts.
    """
    if actor.kind == "system":
        if actor.entry == "command" or permission in SYSTEM_MAY.get(actor.label, ()):
            return None
        raise _refusal(actor, permission)
    user = _row(actor.user_id).first()
    if user is None or not user.may_sign_in or not user.has_perm(permission):
        raise _refusal(actor, permission)
    return user


def fresh(actor: Actor, within: timedelta) -> bool:
    """Whether this person proved who they are less than `within` ago, by the database's clock.

    False for the system, for people who are gone, and where the session does not say.
    """
    return _proved(actor, actor.authenticated_at, within)


def fresh_passkey(actor: Actor, within: timedelta) -> bool:
    """The same, with a passkey."""
    return _proved(actor, actor.passkey_at, within)


def _proved(actor: Actor, at: datetime | None, within: timedelta) -> bool:
    if actor.kind != "user" or at is None:
        return False
    now = _row(actor.user_id).values_list(ClockTimestamp()).first()
    return now is not None and -CLOCK_SKEW <= now[0] - at < within


def in_group(user_id: int | None, group: str) -> bool:
    """Whether an active person is a member of the group now."""
    return _row(user_id).filter(is_active=True, groups__name=group).exists()


def _row(user_id: int | None) -> QuerySet[User]:
    return User.objects.none() if user_id is None else User.objects.filter(pk=user_id)


def _last_authentication(
    request: HttpRequest, user: User, *, only: str = ""
) -> tuple[datetime | None, str]:
    """When and how this person last proved who they are; `only` in one way."""
    found = [
        (datetime.fromtimestamp(record["at"], UTC), str(record.get("type") or record["method"]))
        for record in get_authentication_records(request, user)
    ]
    return max((each for each in found if only in ("", each[1])), default=(None, ""))


def _refusal(actor: Actor, permission: str) -> errors.NotPermitted:
    right = groups.right(permission)
    return errors.NotPermitted(permission, label=right.label, groups=right.groups, who=actor.label)
