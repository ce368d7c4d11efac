-- The checkpoints, writes and blobs of these threads: how many rows, how many bytes as stored.
-- Raw because the tables are LangGraph's.   Index: their primary keys begin with the thread.
SELECT coalesce(sum(rows), 0)::bigint, coalesce(sum(size), 0)::bigint
  FROM (SELECT count(*) AS rows, sum(pg_column_size(c.checkpoint) + pg_column_size(c.metadata)) AS size
          FROM checkpoints c WHERE thread_id = ANY(%(threads)s)
        UNION ALL
        SELECT count(*), sum(pg_column_size(blob)) FROM checkpoint_blobs WHERE thread_id = ANY(%(threads)s)
        UNION ALL
        SELECT count(*), sum(pg_column_size(blob)) FROM checkpoint_writes WHERE thread_id = ANY(%(threads)s)
       ) AS parts
