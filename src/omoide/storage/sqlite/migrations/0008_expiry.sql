-- What has an expiry is rare: a mirror asks at every reading which memories have expired since it was last written.
CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
