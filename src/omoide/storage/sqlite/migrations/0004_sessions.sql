-- The sessions of each project, and from where each was started. The first memory of a session starts it, too.
CREATE TABLE sessions (
    project    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,                 -- name without case: Monday and monday cannot both be files on every disk
    source     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

-- Not unique: an older omoide may have kept both.
CREATE INDEX sessions_folded ON sessions (project, folded);

INSERT INTO sessions
SELECT project, session, folded(session), '', min(created_at) FROM memories WHERE session <> '' GROUP BY project, session;
