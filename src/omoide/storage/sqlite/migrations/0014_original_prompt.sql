-- What a user said that made a memory; NULL: it is not known.
ALTER TABLE memories ADD COLUMN original_prompt TEXT;
