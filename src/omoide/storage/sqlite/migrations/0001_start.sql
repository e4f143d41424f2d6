-- The first schema: memories, their versions, events, links, projects and the words that find them.

CREATE TABLE projects (
    number      INTEGER PRIMARY KEY,          -- 0 is the global layer and has no row
    path        TEXT NOT NULL UNIQUE,
    folded      TEXT NOT NULL UNIQUE,         -- path without case, so that Shop and shop are one on every disk
    description TEXT NOT NULL DEFAULT '',
    root        TEXT UNIQUE,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE memories (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice, not even after a purge
    id              TEXT NOT NULL UNIQUE,
    project         INTEGER NOT NULL,
    session         TEXT NOT NULL,
    state           INTEGER NOT NULL,                    -- 0 active, 1 inactive, 2 archived, 3 forgotten
    type            TEXT NOT NULL,
    key             TEXT,
    twin            INTEGER NOT NULL,                    -- hash of what makes it "the same again": see service
    kin             INTEGER NOT NULL,                    -- hash of its most telling term: near twins mostly share it
    topic_given     INTEGER NOT NULL,
    length          INTEGER NOT NULL,                    -- in terms, for the ranking
    pinned          INTEGER NOT NULL,
    confidence      REAL NOT NULL,
    relevance       REAL NOT NULL,
    reference_count INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    actor           INTEGER NOT NULL,                    -- who made this version
    created_at      INTEGER NOT NULL,                    -- all times in microseconds since 1970, UTC
    updated_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    source          TEXT NOT NULL,
    tags            TEXT NOT NULL,                       -- JSON arrays of strings
    examples        TEXT NOT NULL,
    topic           TEXT NOT NULL,
    content         TEXT NOT NULL                        -- last, so that reading the rest skips its overflow pages
) STRICT;

CREATE INDEX memories_twin ON memories (twin);
CREATE INDEX memories_kin ON memories (kin);
CREATE INDEX memories_browse ON memories (project, state, updated_at);
-- A forgotten memory gives its key free.
CREATE UNIQUE INDEX memories_key ON memories (project, session, key) WHERE key IS NOT NULL AND state <> 3;

-- Apart from the memories, because it is written behind and may be lost.
CREATE TABLE accesses (
    memory           INTEGER PRIMARY KEY,
    last_accessed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE versions (
    memory  INTEGER NOT NULL,
    version INTEGER NOT NULL,
    actor   INTEGER NOT NULL,
    body    TEXT NOT NULL,                               -- the fields as JSON
    PRIMARY KEY (memory, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE actors (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,
    role   TEXT NOT NULL,
    via    TEXT NOT NULL,
    UNIQUE (name, role, via)
) STRICT;

CREATE TABLE events (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    deed    TEXT NOT NULL,
    actor   INTEGER NOT NULL,
    project INTEGER NOT NULL,                            -- where the memory was: a scope sees only its own events
    memory  INTEGER NOT NULL,
    detail  TEXT                                         -- JSON; never a memory's text
) STRICT;

CREATE INDEX events_memory ON events (memory);

CREATE TABLE links (
    source     INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    target     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_target ON links (target);

-- How much is indexed in each area (see store/sqlite.py), kept in step by every write.
CREATE TABLE areas (
    area    INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL,
    terms   INTEGER NOT NULL
) STRICT;

-- The terms come ready-made and space-separated from search/text.py: the tokenizer only splits at spaces.
-- The text itself is not kept here a second time (content='').
CREATE VIRTUAL TABLE words USING fts5 (
    topic, tags, content,
    content='', contentless_delete=1,
    tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- 4 MB of pending terms instead of 1: bulk writing of Japanese is almost twice as fast, and leaves fewer segments.
INSERT INTO words (words, rank) VALUES ('hashsize', 4194304);
-- Every commit makes a segment, and every search looks into all of them: 8 instead of 16 before they are merged.
INSERT INTO words (words, rank) VALUES ('crisismerge', 8);
