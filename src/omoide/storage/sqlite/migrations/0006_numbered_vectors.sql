-- Vectors by a number of their own. A row of half a kilobyte in the key's own tree, as it was, makes a tree of seven
-- branches a page: at 100,000 memories reading eighty of them took three times as long.

DROP TRIGGER vectors_said_anew;
DROP TRIGGER vectors_moved;
DROP TRIGGER vectors_erased;

CREATE TABLE numbered (
    number INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL,                 -- several rows where its text is long: one for each piece
    model  INTEGER NOT NULL,
    parts  BLOB NOT NULL                     -- int8 for each dimension
) STRICT;

INSERT INTO numbered (memory, model, parts) SELECT memory, model, parts FROM vectors ORDER BY memory, piece;
DROP TABLE vectors;
ALTER TABLE numbered RENAME TO vectors;
CREATE INDEX vectors_memory ON vectors (memory);

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
