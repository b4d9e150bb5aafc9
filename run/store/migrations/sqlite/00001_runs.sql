-- Times of day are UTC text, durations and latencies seconds, sizes bytes.
-- Columns named options, settings, args and dataset_spec hold JSON.

-- +goose Up
CREATE TABLE runs (
    id                  TEXT PRIMARY KEY,
    name                TEXT NOT NULL,
    command             TEXT NOT NULL,
    args                TEXT NOT NULL,
    experiment          TEXT NOT NULL,
    started             TEXT NOT NULL,
    finished            TEXT, -- NULL: the run goes on, or was killed
    status              TEXT NOT NULL,
    reason              TEXT NOT NULL,
    tool_version        TEXT NOT NULL,
    tool_commit         TEXT NOT NULL,
    tool_go             TEXT NOT NULL,
    host_os             TEXT NOT NULL,
    host_kernel         TEXT NOT NULL,
    host_arch           TEXT NOT NULL,
    host_cpu            TEXT NOT NULL,
    host_cores          INTEGER NOT NULL,
    host_memory         INTEGER NOT NULL,
    host_file_system    TEXT NOT NULL,
    host_virtualization TEXT NOT NULL,
    workload            TEXT NOT NULL, -- its name, for reading; dataset_spec has all of it
    dataset_spec        TEXT NOT NULL,
    fingerprint         TEXT NOT NULL,
    series              INTEGER NOT NULL,
    rows                INTEGER NOT NULL,
    metrics             INTEGER NOT NULL,
    raw_bytes           INTEGER NOT NULL
);

CREATE INDEX runs_started ON runs (started);

CREATE TABLE targets (
    id         INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    embedded   INTEGER NOT NULL,
    options    TEXT NOT NULL,
    version    TEXT NOT NULL,
    location   TEXT NOT NULL,
    durability TEXT NOT NULL,
    settings   TEXT NOT NULL,
    failure    TEXT NOT NULL, -- empty: it did not give up
    UNIQUE (run_id, name)
);

CREATE TABLE loads (
    target_id  INTEGER PRIMARY KEY REFERENCES targets (id) ON DELETE CASCADE,
    workers    INTEGER NOT NULL,
    batch_size INTEGER NOT NULL,
    rows       INTEGER NOT NULL,
    metrics    INTEGER NOT NULL,
    wire_bytes INTEGER NOT NULL,
    prepare    REAL NOT NULL,
    sent       REAL NOT NULL,
    acked      REAL NOT NULL, -- 0: the protocol does not acknowledge
    settled    REAL NOT NULL,
    disk_bytes INTEGER NOT NULL, -- -1: not known
    withheld   TEXT NOT NULL,    -- empty: the figures stand
    count      INTEGER NOT NULL, -- from here on: latency of a batch
    min        REAL NOT NULL,
    mean       REAL NOT NULL,
    median     REAL NOT NULL,
    p90        REAL NOT NULL,
    p95        REAL NOT NULL,
    p99        REAL NOT NULL,
    p999       REAL NOT NULL,
    max        REAL NOT NULL,
    stddev     REAL NOT NULL,
    histogram  TEXT NOT NULL -- HdrHistogram V2 compressed, base64, nanoseconds
);

CREATE TABLE load_rates (
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    at        REAL NOT NULL, -- end of the period, since the start of the load
    rows      INTEGER NOT NULL,
    PRIMARY KEY (target_id, position)
) WITHOUT ROWID;

CREATE TABLE census (
    target_id  INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    expected   INTEGER NOT NULL,
    counted    INTEGER NOT NULL, -- -1: the system counts points only
    problem    TEXT NOT NULL,    -- empty: it agrees
    PRIMARY KEY (target_id, position)
) WITHOUT ROWID;

CREATE TABLE query_types (
    id               INTEGER PRIMARY KEY, -- in the order asked
    target_id        INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    type             TEXT NOT NULL,
    help             TEXT NOT NULL,
    unsupported      TEXT NOT NULL, -- empty: it was asked
    withheld         TEXT NOT NULL, -- empty: the figures stand
    checked          INTEGER NOT NULL,
    checked_empty    INTEGER NOT NULL,
    checked_rows     INTEGER NOT NULL,
    difference       TEXT NOT NULL, -- empty: none found
    workers          INTEGER NOT NULL,
    asked            INTEGER NOT NULL,
    burn_in          INTEGER NOT NULL,
    at_least         INTEGER NOT NULL,
    distinct_queries INTEGER NOT NULL,
    time_box         REAL NOT NULL,
    wall             REAL NOT NULL,
    per_second       REAL NOT NULL,
    rows             INTEGER NOT NULL,
    bytes            INTEGER NOT NULL,
    count            INTEGER NOT NULL, -- from here on: service time of a query
    min              REAL NOT NULL,
    mean             REAL NOT NULL,
    median           REAL NOT NULL,
    p90              REAL NOT NULL,
    p95              REAL NOT NULL,
    p99              REAL NOT NULL,
    p999             REAL NOT NULL,
    max              REAL NOT NULL,
    stddev           REAL NOT NULL,
    histogram        TEXT NOT NULL, -- HdrHistogram V2 compressed, base64, nanoseconds
    UNIQUE (target_id, type)
);

-- +goose Down
DROP TABLE query_types;
DROP TABLE census;
DROP TABLE load_rates;
DROP TABLE loads;
DROP TABLE targets;
DROP TABLE runs;
