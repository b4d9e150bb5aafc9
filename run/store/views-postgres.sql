
-- What reports show of each run, for Grafana and other programs that read SQL.

CREATE VIEW runs AS
SELECT id, name, command, started::timestamptz AS started, finished::timestamptz AS finished, status, reason, workload, fingerprint, tool,
    types, withheld, sweep, point, imported IS NOT NULL AS imported
FROM documents;

CREATE VIEW queries AS
SELECT d.id AS run, d.name, d.started::timestamptz AS started, d.workload, d.fingerprint, d.tool, q.target, t.driver, t.version, q.type, q.verdict, q.why,
    q.median, q.bound, q.low, q.high, q.level, q.rounds, q.p99, q.max, q.executed, q.rate, q.workers
FROM documents AS d
CROSS JOIN LATERAL jsonb_to_recordset(d.figures::jsonb -> 'queries') AS q (
    target text, type text, verdict text, why text, median double precision, bound text, low double precision, high double precision, level double precision,
    rounds integer, p99 double precision, max double precision, executed bigint, rate double precision, workers integer)
LEFT JOIN LATERAL jsonb_to_recordset(d.targets::jsonb) AS t (name text, driver text, version text) ON t.name = q.target;

CREATE VIEW loads AS
SELECT d.id AS run, d.name, d.started::timestamptz AS started, d.workload, d.fingerprint, d.tool, l.target, t.driver, t.version, l.verdict, l.why,
    l.rate, l.low, l.high, l.level, l.loads, l.rows, l.disk, l.workers, l.batch
FROM documents AS d
CROSS JOIN LATERAL jsonb_to_recordset(d.figures::jsonb -> 'loads') AS l (
    target text, verdict text, why text, rate double precision, low double precision, high double precision, level double precision,
    loads integer, rows bigint, disk bigint, workers integer, batch integer)
LEFT JOIN LATERAL jsonb_to_recordset(d.targets::jsonb) AS t (name text, driver text, version text) ON t.name = l.target;
