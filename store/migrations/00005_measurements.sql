-- What was measured of the client, its host and the servers, and of open
-- loops, all JSON; null: nothing was.

-- +goose Up
ALTER TABLE runs ADD COLUMN resources TEXT NOT NULL DEFAULT 'null';
ALTER TABLE runs ADD COLUMN rivals TEXT NOT NULL DEFAULT 'null';
ALTER TABLE runs ADD COLUMN calibration TEXT NOT NULL DEFAULT 'null';
ALTER TABLE targets ADD COLUMN co_located INTEGER NOT NULL DEFAULT 0;
ALTER TABLE loads ADD COLUMN cell TEXT NOT NULL DEFAULT '{}';
ALTER TABLE query_types ADD COLUMN cell TEXT NOT NULL DEFAULT '{}';
ALTER TABLE query_types ADD COLUMN open_loop TEXT NOT NULL DEFAULT 'null';
