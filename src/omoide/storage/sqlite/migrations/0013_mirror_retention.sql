-- Whether retention may archive what is in a list or a block.
ALTER TABLE mirrors ADD COLUMN retire INTEGER NOT NULL DEFAULT 0;
