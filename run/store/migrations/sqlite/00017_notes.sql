-- The experiment's notes, JSON, such as what became of another tool's file; null: none.

-- +goose Up
ALTER TABLE runs ADD COLUMN notes TEXT NOT NULL DEFAULT 'null';
