"""What the planner has to know of agents and tools: most tools are used by one agent."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("ledger", "0012_by_use")]

    operations: ClassVar[list[Operation]] = [
        migrations.RunSQL(
            "CREATE STATISTICS effects_use (mcv) ON agent, tool FROM effects",
            "DROP STATISTICS effects_use",
        ),
    ]
