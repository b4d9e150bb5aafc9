-- +goose Up
ALTER TABLE runs ADD COLUMN late TEXT NOT NULL DEFAULT 'null'; -- JSON: how late rows of the dataset arrive within their series
