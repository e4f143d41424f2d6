-- The last tables, columns and triggers whose names are not the words of the code. Nothing is computed again.
ALTER TABLE signs RENAME TO sign_bits;
DROP INDEX signs_area;
DROP INDEX signs_memory;
CREATE INDEX sign_bits_area ON sign_bits (area, seq);
CREATE INDEX sign_bits_memory ON sign_bits (memory);
ALTER TABLE vectors RENAME COLUMN parts TO int8;

DROP TRIGGER vectors_said_anew;
CREATE TRIGGER vectors_outdated AFTER UPDATE OF content, topic ON memories
WHEN old.content <> new.content OR old.topic <> new.topic BEGIN
    DELETE FROM sign_bits WHERE memory = old.number;
    DELETE FROM vectors WHERE memory = old.number;
END;

UPDATE upkeep SET task = replace(task, 'told', 'reported') WHERE task LIKE 'retire: %told';
