"""The fence check of the savers as functions, and room for in-page updates on the lease table."""

from __future__ import annotations

from django.db import migrations

CHECK = """
CREATE FUNCTION runs_check_fence(p_run uuid, p_fence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- An update, not a plain read: it locks the row, so that a taker waits for this writer and a
    -- former driver cannot commit after the taker has read the head. It also notes the progress.
    UPDATE runs_lease SET progress_at = clock_timestamp() WHERE run_id = p_run AND fence = p_fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run %: fence % was taken over', p_run, p_fence USING ERRCODE = 'SB001';
    END IF;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.RunSQL(
            CHECK,
            "DROP FUNCTION runs_check_fence(uuid, bigint);",
        ),
        migrations.RunSQL(
            "ALTER TABLE runs_lease SET (fillfactor = 50);",
            "ALTER TABLE runs_lease RESET (fillfactor);",
        ),
    ]
