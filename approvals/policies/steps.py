"""Parts of a policy that name who: who joins when nobody answers, and who sees a masked field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from accounts.speech import later
from approvals.policies import lengths
from approvals.policies.subjects import is_path

HOW = later("how long to wait and a group, such as 4h finance-leads")
HOW_MASK = later("a field and the groups that see it, such as args.iban: treasury, payroll")
LONGEST_GROUP = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """After `after` without a decision, the members of `group` are told and may decide, too."""

    after: timedelta
    group: str

    @classmethod
    def parse(cls, text: object) -> Step:
        """Raises ValueError, whose words say what is wrong."""
        if isinstance(text, Step):
            return text
        after, _, group = text.strip().partition(" ") if isinstance(text, str) else ("", "", "")
        if not is_group(group):
            raise ValueError(later("“{text}” is not {how}.", text=str(text)[:100], how=HOW))
        return cls(after=lengths.parse(after), group=group.strip())

    def __str__(self) -> str:
        return f"{lengths.written(self.after).replace(' ', '')} {self.group}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """A field that only members of `groups` see; nobody, if there are none."""

    path: str
    groups: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: object) -> Mask:
        """Raises ValueError, whose words say what is wrong."""
        if isinstance(text, Mask):
            return text
        path, _, names = text.partition(":") if isinstance(text, str) else ("", "", "")
        groups = tuple(name.strip() for name in names.split(",") if name.strip())
        if not is_path(path.strip()) or not all(map(is_group, groups)):
            raise ValueError(
                later("“{text}” is not {how_mask}.", text=str(text)[:100], how_mask=HOW_MASK)
            )
        return cls(path=path.strip(), groups=groups)

    def __str__(self) -> str:
        return f"{self.path}: {', '.join(self.groups)}" if self.groups else self.path


def is_group(name: str) -> bool:
    return 0 < len(name.strip()) <= LONGEST_GROUP and "," not in name
