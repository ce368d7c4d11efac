-- A run's checkpoints newest first, without their states: when, by which attempt, which channels
-- changed, and which tasks wrote something on them. One row more than asked tells whether there are older.
-- Raw because the tables are LangGraph's.   Index: checkpoints_pkey, checkpoint_writes_pkey.
WITH page AS (
    SELECT thread_id, checkpoint_ns, checkpoint_id
      FROM checkpoints
     WHERE thread_id = %(thread)s AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
       AND (%(only)s::text[] IS NULL OR checkpoint_id = ANY(%(only)s))
     ORDER BY checkpoint_id DESC
     LIMIT %(most)s
)
SELECT c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id,
       (c.checkpoint ->> 'ts')::timestamptz AS at,
       (c.metadata ->> 'step')::int AS step,
       c.metadata ->> 'source' AS source,
       (c.metadata ->> 'fence')::bigint AS fence,
       ARRAY(SELECT jsonb_array_elements_text(NULLIF(c.checkpoint -> 'updated_channels', 'null'))) AS updated,
       ARRAY(SELECT key FROM jsonb_each(c.checkpoint -> 'versions_seen')
              WHERE value = '{}' AND key <> '__input__') AS pushed,
       ARRAY(SELECT DISTINCT w.task_path FROM checkpoint_writes w
              WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
                AND w.checkpoint_id = c.checkpoint_id) AS paths,
       ARRAY(SELECT DISTINCT w.channel FROM checkpoint_writes w
              WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
                AND w.checkpoint_id = c.checkpoint_id
                AND w.channel IN ('__interrupt__', '__error__')) AS marks
  FROM page
  JOIN checkpoints c USING (thread_id, checkpoint_ns, checkpoint_id)
 ORDER BY c.checkpoint_id DESC
