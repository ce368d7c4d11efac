"""Signatures of what was sealed, and anchors; both only grow."""

from __future__ import annotations

from django.db import migrations, models


TRIGGER = """
CREATE TRIGGER {table}_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_only_grows;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_only_grows'),
    ]

    operations = [
        migrations.CreateModel(
            name='Anchor',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField(editable=False)),
                ('seq', models.BigIntegerField()),
                ('hash', models.CharField(max_length=64)),
                ('accepts', models.BigIntegerField(default=0)),
                ('key_id', models.CharField(max_length=64)),
                ('signature', models.CharField(max_length=100)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='SealSignature',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('first', models.BigIntegerField(db_index=True)),
                ('last', models.BigIntegerField()),
                ('leaves', models.BinaryField()),
                ('key_id', models.CharField(max_length=64)),
                ('signature', models.CharField(max_length=100)),
            ],
            options={
                'db_table': 'audit_signature',
                'default_permissions': (),
            },
        ),
        *(
            migrations.RunSQL(
                TRIGGER.format(table=table), f"DROP TRIGGER {table}_only_grows ON {table}"
            )
            for table in ("audit_signature", "audit_anchor")
        ),
    ]
