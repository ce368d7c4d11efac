"""Refuse UPDATE, DELETE and TRUNCATE on both tables of the audit log."""

from __future__ import annotations

from django.db import migrations

FUNCTION = """
CREATE FUNCTION audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % refused: the audit log only grows. Record a new entry instead.',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$
"""

# For each statement, not each row: TRUNCATE has no rows, and a statement that happens to match
# none is refused as well. ALWAYS, so that session_replication_role does not switch it off.
TRIGGER = """
CREATE TRIGGER {table}_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_only_grows;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION audit_only_grows()"),
        *(
            migrations.RunSQL(
                TRIGGER.format(table=table), f"DROP TRIGGER {table}_only_grows ON {table}"
            )
            for table in ("audit_entry", "audit_seal")
        ),
    ]
