-- Whether what an agent made of a memory is clear; 0: it is only the most probable use, or not judged yet.
ALTER TABLE injections ADD COLUMN is_clear INTEGER NOT NULL DEFAULT 0;
