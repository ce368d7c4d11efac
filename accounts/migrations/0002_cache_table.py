"""The table of the cache: attempts to sign in and codes already used, counted for all processes."""

from __future__ import annotations

from django.core.management import call_command
from django.db import migrations

TABLE = "signalbox_cache"


def create(apps, schema_editor) -> None:
    call_command("createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.RunPython(create, migrations.RunPython.noop),
        migrations.RunSQL(migrations.RunSQL.noop, f"DROP TABLE IF EXISTS {TABLE}"),
    ]
