-- Facts about the database itself. index_version: of the function that made index entries, fingerprints and blocking keys;
-- missing in a database that was indexed before versions were recorded, whose index is then rebuilt once.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
