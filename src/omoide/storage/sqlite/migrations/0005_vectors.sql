-- What memories mean: a vector each, made after the memory was kept, and the signs of its parts to search by.

CREATE TABLE models (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    dimensions INTEGER NOT NULL
) STRICT;

-- Small rows, read whole into a process's memory. A row that changes its area gets a new `seq`, never given twice: so a
-- process sees what is new to it by asking for what comes after the last that it knows.
CREATE TABLE signs (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL,                 -- several rows where its text is long: one for each piece
    area   INTEGER NOT NULL,                 -- as in words; -1 while the memory is forgotten
    model  INTEGER NOT NULL,
    bits   BLOB NOT NULL                     -- one bit for each dimension
) STRICT;

CREATE INDEX signs_area ON signs (area, seq);
CREATE INDEX signs_memory ON signs (memory);

CREATE TABLE vectors (
    memory INTEGER NOT NULL,
    piece  INTEGER NOT NULL,
    model  INTEGER NOT NULL,
    parts  BLOB NOT NULL,                    -- int8 for each dimension
    PRIMARY KEY (memory, piece)
) STRICT, WITHOUT ROWID;

-- In step with the rows whatever changes them. What is said anew has no vector until one is made of the new text.
CREATE TRIGGER vectors_said_anew AFTER UPDATE OF content, topic ON memories
WHEN old.content <> new.content OR old.topic <> new.topic BEGIN
    DELETE FROM signs WHERE memory = old.number;
    DELETE FROM vectors WHERE memory = old.number;
END;

CREATE TRIGGER vectors_moved AFTER UPDATE OF project, state ON memories
WHEN CASE old.state WHEN 3 THEN -1 ELSE old.project * 2 + (old.state <> 0) END
    <> CASE new.state WHEN 3 THEN -1 ELSE new.project * 2 + (new.state <> 0) END BEGIN
    INSERT INTO signs (memory, area, model, bits)
        SELECT memory, CASE new.state WHEN 3 THEN -1 ELSE new.project * 2 + (new.state <> 0) END, model, bits
        FROM signs WHERE memory = old.number;
    DELETE FROM signs WHERE memory = old.number
        AND area = CASE old.state WHEN 3 THEN -1 ELSE old.project * 2 + (old.state <> 0) END;
END;

CREATE TRIGGER vectors_erased AFTER DELETE ON memories BEGIN
    DELETE FROM signs WHERE memory = old.number;
    DELETE FROM vectors WHERE memory = old.number;
END;
