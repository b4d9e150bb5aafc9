-- What each worker's operations took together, JSON, seconds; null: it was not recorded.

-- +goose Up
ALTER TABLE loads ADD COLUMN accumulated TEXT NOT NULL DEFAULT 'null';
ALTER TABLE query_types ADD COLUMN accumulated TEXT NOT NULL DEFAULT 'null';
ALTER TABLE query_types ADD COLUMN result_values INTEGER NOT NULL DEFAULT 0; -- values in all answers
