-- What of these threads lies before the last checkpoint of each graph: how many rows, how many bytes
-- as stored. Blobs are left out: some of them belong to the last checkpoints.
-- Raw because the tables are LangGraph's.   Index: their primary keys begin with the thread.
WITH last AS (
    SELECT thread_id, checkpoint_ns, max(checkpoint_id) AS checkpoint_id
      FROM checkpoints WHERE thread_id = ANY(%(threads)s)
     GROUP BY thread_id, checkpoint_ns
)
SELECT coalesce(sum(rows), 0)::bigint, coalesce(sum(size), 0)::bigint
  FROM (SELECT count(*) AS rows, sum(pg_column_size(c.checkpoint) + pg_column_size(c.metadata)) AS size
          FROM checkpoints c JOIN last USING (thread_id, checkpoint_ns)
         WHERE c.checkpoint_id < last.checkpoint_id
        UNION ALL
        SELECT count(*), sum(pg_column_size(w.blob))
          FROM checkpoint_writes w JOIN last USING (thread_id, checkpoint_ns)
         WHERE w.checkpoint_id < last.checkpoint_id
       ) AS parts
