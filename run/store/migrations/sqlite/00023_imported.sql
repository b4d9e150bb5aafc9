-- When a run was imported from a file; NULL: it was executed into this folder.
-- What such a run was to do is somebody else's word, and is never resumed.

-- +goose Up
ALTER TABLE runs ADD COLUMN imported TEXT;

-- Versions that were not those that the experiment expects, JSON; null: none.
ALTER TABLE runs ADD COLUMN deviations TEXT NOT NULL DEFAULT 'null';
