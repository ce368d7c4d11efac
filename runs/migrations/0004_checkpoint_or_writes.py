"""The fence check learns whether a checkpoint is saved or only writes of a task.

Only a checkpoint is progress, and shows that there is a state to go on from: LangGraph saves the
input's writes at the same time as its checkpoint, so a killed worker may leave writes alone.
"""

from __future__ import annotations

from django.db import migrations

CHECK = """
CREATE FUNCTION runs_check_fence(p_run uuid, p_fence bigint, p_checkpoint boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Both lock the row, so that a taker waits for this writer and a former driver cannot commit
    -- after the taker has read the head. Writes of parallel tasks need not wait for each other.
    IF p_checkpoint THEN
        UPDATE runs_lease SET progress_at = clock_timestamp()
         WHERE run_id = p_run AND fence = p_fence;
    ELSE
        PERFORM FROM runs_lease WHERE run_id = p_run AND fence = p_fence FOR SHARE;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run %: fence % was taken over', p_run, p_fence USING ERRCODE = 'SB001';
    END IF;
END $$;
"""
BEFORE = """
CREATE FUNCTION runs_check_fence(p_run uuid, p_fence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runs_lease SET progress_at = clock_timestamp() WHERE run_id = p_run AND fence = p_fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run %: fence % was taken over', p_run, p_fence USING ERRCODE = 'SB001';
    END IF;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_ended")]

    operations = [
        migrations.RunSQL("DROP FUNCTION runs_check_fence(uuid, bigint);", BEFORE),
        migrations.RunSQL(CHECK, "DROP FUNCTION runs_check_fence(uuid, bigint, boolean);"),
    ]
