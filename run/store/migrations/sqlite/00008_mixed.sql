-- +goose Up
ALTER TABLE loads ADD COLUMN mixed TEXT NOT NULL DEFAULT 'null'; -- JSON: the part that was written while questions were asked
