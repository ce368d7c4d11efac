"""People. A person signs in with an e-mail address; what they may do comes from groups.

1. An address is stored in lower case and belongs to one person, however it is typed.
2. A time zone is a name from the IANA database; pages show times in it, rules never use it.
3. A language is one of settings.LANGUAGES; pages and mails are written in it, records never are.
"""

from __future__ import annotations

import zoneinfo
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class Theme(models.TextChoices):
    SYSTEM = "system", _("As the device is set")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class Times(models.TextChoices):
    """How lists say when something was or will be."""

    RELATIVE = "relative", _("How long ago: 3 min ago")
    ABSOLUTE = "absolute", _("Date and time: 2026-11-29 16:21:04")


class Hours(models.TextChoices):
    """How the hours of a day are counted."""

    TWENTY_FOUR = "24", _("24 hours: 16:21")
    TWELVE = "12", _("12 hours: 4:21 pm")


def validate_time_zone(name: str) -> None:
    """Raise ValidationError unless `name` is in the IANA time zone database."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("“%(name)s” is not a time zone."), params={"name": name})


class UserManager(BaseUserManager["User"]):
    """Makes people whose name for signing in is their e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Without a password the person can sign in only after somebody has set one."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(
            email, password, **fields | {"is_staff": True, "is_superuser": True}
        )

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        return (email or "").strip().lower()

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=self.normalize_email(username))


class User(AbstractUser):
    """Somebody who may sign in."""

    username = None  # type: ignore[assignment]  # removes AbstractUser's field
    email = models.EmailField(_("e-mail address"), unique=True)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.SYSTEM)
    times = models.CharField(
        _("times in lists"), max_length=8, choices=Times, default=Times.RELATIVE
    )
    hours = models.CharField(_("hours"), max_length=2, choices=Hours, default=Hours.TWENTY_FOUR)
    shortcuts = models.BooleanField(
        _("single keys as shortcuts"),
        default=True,
        help_text=_("Switch them off if keys are pressed by mistake, or by speech. Ctrl K stays."),
    )
    language = models.CharField(max_length=16, blank=True, default="")
    """Of pages and mails; empty: as the browser asks. See `accounts.speech`."""
    is_demo = models.BooleanField(
        default=False, help_text="Made by the demo. May sign in only while demo mode is on."
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(email=Lower("email")), name="accounts_user_email_is_lower_case"
            ),
            models.CheckConstraint(
                condition=models.Q(theme__in=Theme.values), name="accounts_user_theme_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(times__in=Times.values), name="accounts_user_times_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(hours__in=Hours.values), name="accounts_user_hours_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """The full name, or the e-mail address of somebody who gave none."""
        return self.get_full_name() or self.email

    @property
    def may_sign_in(self) -> bool:
        """Active, and not one of the demo's people outside demo mode. Ends live sessions too."""
        return self.is_active and (settings.DEMO or not self.is_demo)


class SavedView(models.Model):
    """The filters of a list under a name: see `accounts.saved`."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    path = models.CharField(max_length=100)
    """Of the list."""
    query = models.TextField(blank=True)
    """Its filters, as they stand in the address."""
    name = models.CharField(max_length=100)
    shared = models.BooleanField(default=False)
    """Everybody sees it who may see the list."""

    class Meta:
        default_permissions = ()
        permissions: ClassVar = [("share_savedview", "Can share saved views with everybody")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("owner", "path", "name"), name="accounts_savedview_once_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        return f"{self.path}?{self.query}"
