-- A project is a repository: it can be in several directories, and is recognised by its root commits and remotes.
CREATE TABLE places (
    directory TEXT PRIMARY KEY,                           -- belongs to one project
    project   INTEGER NOT NULL,
    stamp     TEXT NOT NULL,                              -- how its repository looked when it was identified; empty: never
    position  INTEGER NOT NULL                            -- the directory that was bound last is first
) STRICT, WITHOUT ROWID;
CREATE INDEX places_project ON places (project);

CREATE TABLE identities (
    project INTEGER NOT NULL,
    kind    TEXT NOT NULL,                                -- commit, or remote
    value   TEXT NOT NULL,
    PRIMARY KEY (project, kind, value)
) STRICT, WITHOUT ROWID;

INSERT INTO places SELECT root, number, '', 0 FROM projects WHERE root IS NOT NULL;

-- A column that is UNIQUE can only go with its table.
CREATE TABLE new_projects (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,        -- never given twice: 0 is the global layer and has no row
    path        TEXT NOT NULL UNIQUE,
    folded      TEXT NOT NULL UNIQUE,                     -- path without case, so that Shop and shop are one on every disk
    description TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL
) STRICT;
INSERT INTO new_projects SELECT number, path, folded, description, created_at FROM projects;
DROP TABLE projects;
ALTER TABLE new_projects RENAME TO projects;
