-- In which part of its run a target was loaded and queried, JSON: see result.Turn; null: there was one part.

-- +goose Up
ALTER TABLE targets ADD COLUMN turn TEXT NOT NULL DEFAULT 'null';
