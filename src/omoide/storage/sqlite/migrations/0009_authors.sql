-- Who wrote what a memory says, where it is somebody else than who made its last version: pinning a text does not make it
-- one's own. NULL: who made the version.
ALTER TABLE memories ADD COLUMN author INTEGER;
