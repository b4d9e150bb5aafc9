-- What a census compared beside the number of rows, JSON; null: counts alone. The
-- content digest of a dataset; empty: not asked for.

-- +goose Up
ALTER TABLE census ADD COLUMN contents TEXT NOT NULL DEFAULT 'null';
ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT '';
