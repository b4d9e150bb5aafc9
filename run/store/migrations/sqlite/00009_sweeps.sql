-- Sweeps: runs of one experiment between which parameters differ.

-- +goose Up
CREATE TABLE sweeps (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    command    TEXT NOT NULL,
    args       TEXT NOT NULL, -- JSON
    experiment TEXT NOT NULL, -- with its matrix
    started    TEXT NOT NULL,
    points     INTEGER NOT NULL
);
-- No reference: a run that was imported comes without its sweep.
ALTER TABLE runs ADD COLUMN sweep TEXT NOT NULL DEFAULT ''; -- empty: it stands alone
ALTER TABLE runs ADD COLUMN point INTEGER NOT NULL DEFAULT 0; -- from 1
ALTER TABLE runs ADD COLUMN points INTEGER NOT NULL DEFAULT 0; -- of the sweep
ALTER TABLE runs ADD COLUMN parameters TEXT NOT NULL DEFAULT 'null'; -- JSON: path and value of each
CREATE INDEX runs_sweep ON runs (sweep, point);
