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
ALTER TABLE loads ADD COLUMN disk_before INTEGER NOT NULL DEFAULT -1; -- -1: not known
ALTER TABLE loads ADD COLUMN disk_acked INTEGER NOT NULL DEFAULT -1;
ALTER TABLE loads ADD COLUMN steps TEXT NOT NULL DEFAULT 'null'; -- JSON: done after settling
ALTER TABLE query_types ADD COLUMN cache TEXT NOT NULL DEFAULT ''; -- what was done to make it cold
ALTER TABLE query_types ADD COLUMN cold INTEGER NOT NULL DEFAULT 0; -- whether it worked
ALTER TABLE targets ADD COLUMN profile TEXT NOT NULL DEFAULT ''; -- set of options that was chosen
ALTER TABLE targets ADD COLUMN durability_level TEXT NOT NULL DEFAULT ''; -- level that was chosen
