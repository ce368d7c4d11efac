-- The newest checkpoint of each of several runs: which channels changed, which tasks wrote on it.
-- Raw because the tables are LangGraph's.   Index: checkpoints_pkey, checkpoint_writes_pkey.
SELECT t.thread_id, c.step, c.at, c.checkpoint_id, c.updated, c.pushed,
       ARRAY(SELECT DISTINCT w.task_path FROM checkpoint_writes w
              WHERE w.thread_id = t.thread_id AND w.checkpoint_ns = ''
                AND w.checkpoint_id = c.checkpoint_id) AS paths
  FROM unnest(%(threads)s::text[]) AS t (thread_id)
 CROSS JOIN LATERAL (
    SELECT checkpoint_id,
           (checkpoint ->> 'ts')::timestamptz AS at,
           (metadata ->> 'step')::int AS step,
           ARRAY(SELECT jsonb_array_elements_text(NULLIF(checkpoint -> 'updated_channels', 'null'))) AS updated,
           ARRAY(SELECT key FROM jsonb_each(checkpoint -> 'versions_seen')
                  WHERE value = '{}' AND key <> '__input__') AS pushed
      FROM checkpoints
     WHERE thread_id = t.thread_id AND checkpoint_ns = ''
     ORDER BY checkpoint_id DESC
     LIMIT 1
 ) AS c
