-- What requests with an idempotency key did: written in the transaction that does it, kept for a day.
CREATE TABLE idempotency (
    project INTEGER NOT NULL,                             -- 0: none, or the global layer
    key     TEXT NOT NULL,                                -- a hash of who asked and of the key
    digest  TEXT NOT NULL,                                -- a hash of the request
    result  TEXT NOT NULL,                                -- JSON; numbers and names, never a memory's text
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);
