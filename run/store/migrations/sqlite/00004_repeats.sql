-- Loads and query types that are measured several times.

-- +goose Up
ALTER TABLE loads RENAME TO old_loads;
CREATE TABLE loads (
    target_id  INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    repeat     INTEGER NOT NULL, -- from 1
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
    histogram  TEXT NOT NULL, -- HdrHistogram V2 compressed, base64, nanoseconds
    unverified TEXT NOT NULL, -- empty: it was counted
    skipped    INTEGER NOT NULL, -- bad lines passed over
    PRIMARY KEY (target_id, repeat)
);
INSERT INTO loads (target_id, repeat, workers, batch_size, rows, metrics, wire_bytes, prepare, sent, acked, settled, disk_bytes, withheld, count, min, mean, median, p90, p95, p99, p999, max, stddev, histogram, unverified, skipped)
    SELECT target_id, 1, workers, batch_size, rows, metrics, wire_bytes, prepare, sent, acked, settled, disk_bytes, withheld, count, min, mean, median, p90, p95, p99, p999, max, stddev, histogram, unverified, skipped FROM old_loads;
DROP TABLE old_loads;

ALTER TABLE load_rates RENAME TO old_load_rates;
CREATE TABLE load_rates (
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    repeat     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    at        REAL NOT NULL, -- end of the period, since the start of the load
    rows      INTEGER NOT NULL,
    PRIMARY KEY (target_id, repeat, position)
) WITHOUT ROWID;
INSERT INTO load_rates (target_id, repeat, position, at, rows)
    SELECT target_id, 1, position, at, rows FROM old_load_rates;
DROP TABLE old_load_rates;

ALTER TABLE census RENAME TO old_census;
CREATE TABLE census (
    target_id  INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    repeat     INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    expected   INTEGER NOT NULL,
    counted    INTEGER NOT NULL, -- -1: the system counts points only
    problem    TEXT NOT NULL,    -- empty: it agrees
    PRIMARY KEY (target_id, repeat, position)
) WITHOUT ROWID;
INSERT INTO census (target_id, repeat, position, table_name, expected, counted, problem)
    SELECT target_id, 1, position, table_name, expected, counted, problem FROM old_census;
DROP TABLE old_census;

ALTER TABLE query_types RENAME TO old_query_types;
CREATE TABLE query_types (
    id               INTEGER PRIMARY KEY, -- in the order asked
    target_id        INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    repeat           INTEGER NOT NULL, -- from 1
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
    each             TEXT NOT NULL, -- JSON: see 00002
    timeout          REAL NOT NULL, -- 0: none
    UNIQUE (target_id, type, repeat)
);
INSERT INTO query_types (id, target_id, repeat, type, help, unsupported, withheld, checked, checked_empty, checked_rows, difference, workers, asked, burn_in, at_least, distinct_queries, time_box, wall, per_second, rows, bytes, count, min, mean, median, p90, p95, p99, p999, max, stddev, histogram, each, timeout)
    SELECT id, target_id, 1, type, help, unsupported, withheld, checked, checked_empty, checked_rows, difference, workers, asked, burn_in, at_least, distinct_queries, time_box, wall, per_second, rows, bytes, count, min, mean, median, p90, p95, p99, p999, max, stddev, histogram, each, timeout FROM old_query_types;
DROP TABLE old_query_types;
