-- What an agent made of a memory that was injected: used, ignored or contradicted; empty: not judged yet.
ALTER TABLE injections ADD COLUMN use TEXT NOT NULL DEFAULT '';
