"""People: the user model, groups and permissions. Sign-in is django-allauth."""

from __future__ import annotations
