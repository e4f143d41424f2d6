-- The words of the field for tables and columns. SQLite renames them in indexes and triggers too.
ALTER TABLE meetings RENAME TO sync_states;
ALTER TABLE sightings RENAME TO file_states;
ALTER TABLE disputes RENAME TO sync_conflicts;
ALTER TABLE memories RENAME COLUMN twin TO fingerprint;
ALTER TABLE memories RENAME COLUMN kin TO blocking_key;
ALTER TABLE events RENAME COLUMN deed TO action;
DROP INDEX memories_twin;
DROP INDEX memories_kin;
DROP INDEX meetings_file;
DROP INDEX meetings_memory;
CREATE INDEX memories_fingerprint ON memories (fingerprint);
CREATE INDEX memories_blocking_key ON memories (blocking_key);
CREATE INDEX sync_states_file ON sync_states (mirror, file);
CREATE INDEX sync_states_memory ON sync_states (memory);
