-- When each kind of upkeep was last done, so that any number of processes do it once a day together.
CREATE TABLE upkeep (
    task TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Few memories are pinned, and every resumed session asks for them.
CREATE INDEX memories_pinned ON memories (project, state, updated_at) WHERE pinned = 1;
-- And for preferences: a type is found without looking at all the others.
CREATE INDEX memories_type ON memories (project, state, type, updated_at);
-- And for the session itself, which is small in a large project.
CREATE INDEX memories_session ON memories (project, session, state, updated_at) WHERE session <> '';
