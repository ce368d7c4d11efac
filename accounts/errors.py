"""Every error of the accounts app. The docstring is the message that a person reads."""

from __future__ import annotations

from django.utils.translation import gettext_noop as noop

from accounts import speech


class AccountsError(speech.Spoken):
    """Something is wrong with an account. Ask an administrator."""


class NotPermitted(AccountsError):
    """You may not do this. Ask an administrator for the permission."""

    http_status = 403

    def __init__(self, permission: str, *, label: str, groups: tuple[str, ...], who: str) -> None:
        """`groups` have the permission; granted by adding `who` to one: manage.py person."""
        super().__init__(
            noop(
                "{who} may not {label}. The permission is {permission}; whoever runs the"
                " server grants it."
            ),
            who=who,
            label=label,
            permission=permission,
        )
        self.permission = permission
        self.label = label
        self.groups = groups
        self.who = who


class ReauthenticationNeeded(AccountsError):
    """This needs a recent sign-in. Confirm that it is you, then repeat the action."""

    http_status = 403


class PasskeyNeeded(ReauthenticationNeeded):
    """This needs your passkey. Confirm with it that it is you, then repeat the action.

    If you have none, add one to your account first.
    """
