-- Files that are kept in step with a scope, and when each side was last known to say the same.
CREATE TABLE mirrors (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,         -- never given twice: processes know mirrors by it
    project    INTEGER NOT NULL,
    session    TEXT NOT NULL,
    place      TEXT NOT NULL,                             -- an absolute directory
    file       TEXT NOT NULL,                             -- in it; empty where the format has many
    format     TEXT NOT NULL,
    choice     TEXT NOT NULL,                             -- all, or own: only what came in through the file
    created_at INTEGER NOT NULL,
    seen       INTEGER NOT NULL,                          -- the last event that its files show
    UNIQUE (place, file)
) STRICT;

-- The last meeting of each memory with its entry in a file. Never a text: a purge must leave nothing here.
CREATE TABLE meetings (
    mirror  INTEGER NOT NULL,
    memory  INTEGER NOT NULL,
    file    TEXT NOT NULL,                                -- empty: it belongs to the mirror, but stands in no file
    entry   TEXT NOT NULL,                                -- the id in the file; empty where it has none
    version INTEGER NOT NULL,
    digest  TEXT NOT NULL,                                -- of the entry's own lines
    PRIMARY KEY (mirror, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX meetings_file ON meetings (mirror, file);
CREATE INDEX meetings_memory ON meetings (memory);

-- How each file looked when it was read or written last: while it looks the same, nobody reads it.
CREATE TABLE sightings (
    mirror   INTEGER NOT NULL,
    name     TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    digest   TEXT NOT NULL,                               -- of its whole text
    settled  INTEGER NOT NULL,                            -- 0: it was so young that a change might not show in its time
    PRIMARY KEY (mirror, name)
) STRICT, WITHOUT ROWID;

-- Both sides changed, differently: one stands, the other is a version in the memory's history.
CREATE TABLE disputes (
    mirror           INTEGER NOT NULL,
    memory           INTEGER NOT NULL,
    at               INTEGER NOT NULL,
    file_version     INTEGER NOT NULL,                    -- 0: the file had the entry no longer
    database_version INTEGER NOT NULL,
    stands           TEXT NOT NULL,                       -- file or database
    PRIMARY KEY (mirror, memory)
) STRICT, WITHOUT ROWID;
