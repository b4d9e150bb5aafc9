-- The place of the first query of a repeat; how answers to be compared were chosen, JSON; and what chose them.

-- +goose Up
ALTER TABLE query_types ADD COLUMN first_place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query_types ADD COLUMN sample TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN check_seed TEXT NOT NULL DEFAULT '';
