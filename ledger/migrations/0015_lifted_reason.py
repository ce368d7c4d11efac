"""Why a stop was lifted, beside who did it: before, only the audit log said so."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0014_shown")]

    operations = [
        migrations.AddField(
            model_name="stop",
            name="lifted_reason",
            field=models.TextField(blank=True, default=""),
        )
    ]
