-- Calls of agents' hooks. Never a prompt or a memory's text.
CREATE TABLE hook_calls (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    client   TEXT NOT NULL,
    event    TEXT NOT NULL,
    session  TEXT NOT NULL,                   -- the client's id
    digest   TEXT NOT NULL,                   -- of session, event and prompt; empty: a repeated call
    clears   INTEGER NOT NULL,                -- 1: what was injected before is no longer in the conversation
    state    TEXT NOT NULL,
    seconds  REAL NOT NULL,
    memories INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    fault    TEXT NOT NULL
) STRICT;
CREATE INDEX hook_calls_digest ON hook_calls (digest, at) WHERE digest <> '';
CREATE INDEX hook_calls_session ON hook_calls (session, number);
CREATE INDEX hook_calls_client ON hook_calls (client, number);

-- Which memories were injected by which call.
CREATE TABLE injections (
    call    INTEGER NOT NULL,
    memory  INTEGER NOT NULL,
    version INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (call, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX injections_memory ON injections (memory);

-- Ends of turns that are to be learnt from. Texts without secrets.
CREATE TABLE inbox (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL,
    client       TEXT NOT NULL,
    session      TEXT NOT NULL,
    project      TEXT NOT NULL,               -- as the settings named it; empty: that of the directory
    directory    TEXT NOT NULL,
    transcript   TEXT NOT NULL,
    size         INTEGER NOT NULL,
    prompt       TEXT NOT NULL,
    last_message TEXT NOT NULL,
    work_tree    TEXT NOT NULL,               -- JSON
    leased_until INTEGER NOT NULL DEFAULT 0,
    learnt_at    INTEGER                      -- NULL: not yet
) STRICT;
CREATE INDEX inbox_pending ON inbox (session, number) WHERE learnt_at IS NULL;

-- How far each transcript was read.
CREATE TABLE transcripts (
    path  TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    line  INTEGER NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
