"""The fence check of the savers as functions, and room for in-page updates on the lease table."""

from __future__ import annotations

from django.db import migrations

CHECK = """
CREATE FUNCTION runs_check_fence(p_run uuid, p_fence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- FOR SHARE, not a plain read: the taker's update must wait for this writer, and the other way.
    PERFORM FROM runs_lease WHERE run_id = p_run AND fence = p_fence FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run %: fence % was taken over', p_run, p_fence USING ERRCODE = 'SB001';
    END IF;
END $$;

CREATE FUNCTION runs_check_fence_step(p_run uuid, p_fence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- The update locks the row as well, and a saved step counts as progress.
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
            "DROP FUNCTION runs_check_fence(uuid, bigint); DROP FUNCTION runs_check_fence_step(uuid, bigint);",
        ),
        migrations.RunSQL(
            "ALTER TABLE runs_lease SET (fillfactor = 50);",
            "ALTER TABLE runs_lease RESET (fillfactor);",
        ),
    ]
