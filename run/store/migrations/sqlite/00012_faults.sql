-- +goose Up
ALTER TABLE loads ADD COLUMN retries TEXT NOT NULL DEFAULT 'null'; -- JSON: what became of batches that failed and were sent again
ALTER TABLE census ADD COLUMN lost INTEGER NOT NULL DEFAULT 0; -- acknowledged rows that are missing
ALTER TABLE census ADD COLUMN duplicates INTEGER NOT NULL DEFAULT 0; -- rows that are there twice because they were sent twice
