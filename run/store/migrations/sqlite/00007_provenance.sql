-- What else bears on figures: the machine, the questions, the client's modules.
-- Of the host: 0 or an empty text where it could not be read or does not exist.

-- +goose Up
ALTER TABLE runs ADD COLUMN host_disk TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN host_swap INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN host_numa_nodes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN host_clock_source TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN host_governor TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN host_turbo TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN host_open_files INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN host_cpu_limit REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN host_memory_limit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN questions TEXT NOT NULL DEFAULT 'null';  -- JSON: per query type how many were drawn, and their fingerprint
ALTER TABLE targets ADD COLUMN changes TEXT NOT NULL DEFAULT 'null'; -- JSON: options that are not as by default
ALTER TABLE targets ADD COLUMN modules TEXT NOT NULL DEFAULT 'null'; -- JSON: Go modules that reach the system
ALTER TABLE targets ADD COLUMN edition TEXT NOT NULL DEFAULT '';
