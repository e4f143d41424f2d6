-- Runs: the task for which a prompt was composed, what the prompt was made of, and what came of it. Never a memory's text.
CREATE TABLE runs (
    project    INTEGER NOT NULL,
    number     INTEGER NOT NULL,              -- counted in each project
    id         TEXT NOT NULL,
    session    TEXT NOT NULL,
    actor      INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    task       TEXT NOT NULL,                 -- JSON
    receipt    TEXT NOT NULL,                 -- JSON
    outcome    TEXT,                          -- JSON; NULL: none yet
    outcome_event INTEGER,                    -- the last event before it: the order of outcomes across projects
    tick       INTEGER NOT NULL DEFAULT 0,    -- the order of the outcomes of a project; 0: none yet
    PRIMARY KEY (project, number),
    UNIQUE (project, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_tick ON runs (project, tick);

-- The memories in the prompt of each run, and what its outcome says about each.
CREATE TABLE run_memories (
    project INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    memory  INTEGER NOT NULL,
    credit  REAL,                             -- from 0 to 1; NULL: the outcome does not count for it
    weight  REAL,
    PRIMARY KEY (project, run, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_memories_memory ON run_memories (memory);

-- What is known about the relevance of a memory beside its value: the person's value, and the weight of the evidence.
CREATE TABLE learned_relevances (
    memory    INTEGER PRIMARY KEY,
    prior     REAL NOT NULL,
    value     REAL NOT NULL,                  -- what was learned last; the memory has another: a person has changed it
    since     INTEGER NOT NULL,               -- an event: earlier outcomes do not count
    fixed     INTEGER NOT NULL,
    successes REAL NOT NULL,
    failures  REAL NOT NULL,
    project   INTEGER NOT NULL,               -- of the last run that counted
    tick      INTEGER NOT NULL
) STRICT;
