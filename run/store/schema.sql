-- A run is a document: see docs/results.md. The columns beside it are for listing
-- and finding. Times of day are UTC text that sorts as times do. Columns named
-- targets, parameters and figures hold JSON.

CREATE TABLE documents (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    command     TEXT NOT NULL,
    started     TEXT NOT NULL,
    finished    TEXT, -- NULL: the run goes on, or was killed
    status      TEXT NOT NULL,
    reason      TEXT NOT NULL,
    workload    TEXT NOT NULL, -- its name
    fingerprint TEXT NOT NULL, -- of the dataset
    tool        TEXT NOT NULL, -- version of tsmark
    targets     TEXT NOT NULL,
    types       INTEGER NOT NULL,
    withheld    INTEGER NOT NULL,
    sweep       TEXT NOT NULL, -- empty: it stands alone
    point       INTEGER NOT NULL,
    points      INTEGER NOT NULL,
    parameters  TEXT NOT NULL,
    imported    TEXT, -- when, and why its figures were not checked; NULL: it was executed into these results
    figures     TEXT NOT NULL, -- what the views show
    document    TEXT NOT NULL
);
CREATE INDEX documents_started ON documents (started);
CREATE INDEX documents_sweep ON documents (sweep, point);

-- What was finished of a run since its document was written.
CREATE TABLE pieces (
    run      TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE sweeps (
    id       TEXT PRIMARY KEY,
    started  TEXT NOT NULL,
    points   INTEGER NOT NULL,
    document TEXT NOT NULL
);
