-- Of loads, what their sizes on disk do not count, in words; empty: nothing, or the
-- run is older. Of targets, the name of the one that it is once more, in a
-- self-test; empty: none.

-- +goose Up
ALTER TABLE loads ADD COLUMN disk_left_out TEXT NOT NULL DEFAULT '';
ALTER TABLE targets ADD COLUMN twin TEXT NOT NULL DEFAULT '';
