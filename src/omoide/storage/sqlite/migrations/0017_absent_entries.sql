-- Why an entry is not in the file that showed it, although its memory belongs there; empty: it is in the file.
ALTER TABLE sync_states ADD COLUMN held TEXT NOT NULL DEFAULT '';

-- Which files without our front matter a mirror takes over: patterns of names, one on each line. Until now, all.
ALTER TABLE mirrors ADD COLUMN adopt TEXT NOT NULL DEFAULT '*';

-- What an absent entry is judged by. Never a text: a purge must leave nothing here.
CREATE TABLE file_versions (
    mirror  INTEGER NOT NULL,
    name    TEXT NOT NULL,
    outline BLOB NOT NULL,                                -- a short hash of every line of the last synced version
    digests TEXT NOT NULL,                                -- of the whole texts of the last synced versions, newest first
    PRIMARY KEY (mirror, name)
) STRICT, WITHOUT ROWID;
