-- Datasets that were read from a file, and figures that nobody verified. Empty
-- texts: generated, and verified.

-- +goose Up
ALTER TABLE runs ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN unverified TEXT NOT NULL DEFAULT '';
ALTER TABLE loads ADD COLUMN unverified TEXT NOT NULL DEFAULT '';
ALTER TABLE loads ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0; -- bad lines passed over

-- +goose Down
ALTER TABLE loads DROP COLUMN skipped;
ALTER TABLE loads DROP COLUMN unverified;
ALTER TABLE runs DROP COLUMN unverified;
ALTER TABLE runs DROP COLUMN source;
