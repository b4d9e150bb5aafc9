-- +goose Up
ALTER TABLE targets ADD COLUMN idle TEXT NOT NULL DEFAULT ''; -- what became of its server, where tsmark started it, during others' turns
