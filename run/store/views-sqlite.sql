-- What reports show of each run, for people with the sqlite3 shell.

CREATE VIEW runs AS
SELECT id, name, command, started, finished, status, reason, workload, fingerprint, tool, types, withheld, sweep, point, imported IS NOT NULL AS imported
FROM documents;

CREATE VIEW queries AS
SELECT d.id AS run, d.name, d.started, d.workload, d.fingerprint, d.tool, q.value ->> 'target' AS target, t.value ->> 'driver' AS driver,
    t.value ->> 'version' AS version, q.value ->> 'type' AS type, q.value ->> 'verdict' AS verdict, q.value ->> 'why' AS why,
    q.value ->> 'median' AS median, q.value ->> 'bound' AS bound, q.value ->> 'low' AS low, q.value ->> 'high' AS high, q.value ->> 'level' AS level,
    q.value ->> 'rounds' AS rounds, q.value ->> 'p99' AS p99, q.value ->> 'max' AS max, q.value ->> 'executed' AS executed,
    q.value ->> 'rate' AS rate, q.value ->> 'workers' AS workers
FROM documents AS d, json_each(d.figures, '$.queries') AS q
LEFT JOIN json_each(d.targets) AS t ON t.value ->> 'name' = q.value ->> 'target';

CREATE VIEW loads AS
SELECT d.id AS run, d.name, d.started, d.workload, d.fingerprint, d.tool, l.value ->> 'target' AS target, t.value ->> 'driver' AS driver,
    t.value ->> 'version' AS version, l.value ->> 'verdict' AS verdict, l.value ->> 'why' AS why,
    l.value ->> 'rate' AS rate, l.value ->> 'low' AS low, l.value ->> 'high' AS high, l.value ->> 'level' AS level,
    l.value ->> 'loads' AS loads, l.value ->> 'rows' AS rows, l.value ->> 'disk' AS disk, l.value ->> 'workers' AS workers, l.value ->> 'batch' AS batch
FROM documents AS d, json_each(d.figures, '$.loads') AS l
LEFT JOIN json_each(d.targets) AS t ON t.value ->> 'name' = l.value ->> 'target';
