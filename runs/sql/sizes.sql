-- Bytes of the values of some checkpoints of a run, as they are stored; no value is read.
-- Raw because the tables are LangGraph's.   Index: checkpoints_pkey, checkpoint_blobs_pkey.
SELECT c.checkpoint_id,
       octet_length((c.checkpoint -> 'channel_values')::text)
       + COALESCE((SELECT sum(octet_length(b.blob))
                     FROM jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
                     JOIN checkpoint_blobs b
                       ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
                      AND b.channel = v.key AND b.version = v.value), 0)
  FROM checkpoints c
 WHERE c.thread_id = %(thread)s AND c.checkpoint_id = ANY(%(only)s)
