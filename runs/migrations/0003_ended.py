"""Find the runs that ended lately, for the overview."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_fence")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("ended_at__isnull", False)),
                fields=["-ended_at"],
                name="runs_run_ended",
            ),
        ),
    ]
