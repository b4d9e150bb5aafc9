-- +goose Up
-- JSON: service time of each question in the order asked; < 0: cut off after
-- so long; 0: not recorded; null: not kept.
ALTER TABLE query_types ADD COLUMN each TEXT NOT NULL DEFAULT 'null';
ALTER TABLE query_types ADD COLUMN timeout REAL NOT NULL DEFAULT 0; -- 0: none
