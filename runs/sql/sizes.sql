-- Bytes of the values of some checkpoints of a run, as they are stored; no value is read.
-- Each blob is looked up by its key: left to itself the planner reads all blobs of the run.
-- Raw because the tables are LangGraph's.   Index: checkpoints_pkey, checkpoint_blobs_pkey.
SELECT c.checkpoint_id,
       octet_length((c.checkpoint -> 'channel_values')::text) + COALESCE(kept.bytes, 0)
  FROM unnest(%(spaces)s::text[], %(only)s::text[]) AS asked (ns, id)
  JOIN checkpoints c
    ON c.thread_id = %(thread)s AND c.checkpoint_ns = asked.ns AND c.checkpoint_id = asked.id
 CROSS JOIN LATERAL (
    SELECT sum((SELECT octet_length(b.blob) FROM checkpoint_blobs b
                 WHERE b.thread_id = %(thread)s AND b.checkpoint_ns = asked.ns
                   AND b.channel = v.key AND b.version = v.value)) AS bytes
      FROM jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
 ) AS kept
