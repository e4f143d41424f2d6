-- Which run of an agent a memory comes from, as whoever runs agents calls it. After the content, where ALTER TABLE puts it:
-- where there is none, the head of the row says so, and nothing of a long content is read for it.
ALTER TABLE memories ADD COLUMN source_run_id TEXT;
