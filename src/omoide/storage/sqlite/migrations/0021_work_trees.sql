-- Work trees of git between the runs of agents: what an agent wrote there, until the next run looks at what became of it.
CREATE TABLE work_trees (
    project INTEGER NOT NULL,
    root    TEXT NOT NULL,                    -- the directory
    at      INTEGER NOT NULL,
    record  TEXT NOT NULL,                    -- JSON; texts of files, bounded and without secrets
    PRIMARY KEY (project, root)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_trees_at ON work_trees (at);
