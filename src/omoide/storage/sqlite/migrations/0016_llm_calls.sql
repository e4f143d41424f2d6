-- Calls of language models: what was asked for, and what it took. Never a text.
CREATE TABLE llm_calls (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost REAL,
    seconds REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX llm_calls_at ON llm_calls (at, input_tokens, output_tokens);
