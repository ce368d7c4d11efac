"""Which providers may tell us something, by LEDGER_HOOKS and LEDGER_HOOK_SECRETS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.actors import Actor
from ledger.confirmation.news import News

Read = Callable[[Mapping[str, object]], News]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One provider that tells us things."""

    provider: str
    secrets: tuple[str, ...]
    """What it signs with; several while one is changed."""
    read: Read
    tools: tuple[str, ...]
    """Patterns of the tools whose effects it may speak of; nobody vouches for another provider."""

    @property
    def actor(self) -> Actor:
        return Actor.system(f"webhook of {self.provider}", entry="api")

    def speaks_of(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)


def find(provider: str) -> Hook | None:
    """None: nobody is expected to call under this name."""
    declared = settings.LEDGER_HOOKS.get(provider)
    secrets = settings.LEDGER_HOOK_SECRETS.get(provider)
    if declared is None or not secrets:
        return None
    return Hook(
        provider=provider,
        secrets=tuple(secrets),
        read=cast(Read, import_string(str(declared["read"]))),  # ledger.checks has imported it
        tools=tuple(declared["tools"]),
    )


def stranger(provider: str) -> Actor:
    """Whoever called in the name of a provider without proving it."""
    return Actor.system(f"somebody as {provider}", entry="api")


def names() -> list[str]:
    """The providers that are set up, sorted."""
    return sorted(set(settings.LEDGER_HOOKS) & set(settings.LEDGER_HOOK_SECRETS))
