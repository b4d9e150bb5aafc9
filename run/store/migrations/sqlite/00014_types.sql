-- +goose Up
ALTER TABLE targets ADD COLUMN types TEXT NOT NULL DEFAULT ''; -- how it holds those of the dataset's types that are none of its own
