-- Where an event came from, such as slack:C123/1700000000.0001; NULL: from the interface of its actor.
ALTER TABLE events ADD COLUMN source TEXT;
