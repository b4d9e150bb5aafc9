-- What bears on the figures: operations that the log does not have, rows that come late.

-- +goose Up
ALTER TABLE runs ADD COLUMN lost_operations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN lateness REAL NOT NULL DEFAULT 0; -- seconds by which a row arrives behind a newer one at most
