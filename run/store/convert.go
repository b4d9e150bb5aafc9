package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// kept is how versions before documents kept a part of a run in the columns of a
// table. A column stands in the document under its own name, but where another
// place is given: keys with dots between them, "." for an object whose keys stand
// beside the others, "" for what stands elsewhere.
type kept struct {
	places map[string]string
	json   string // columns that hold JSON
	flags  string // columns that are 1 where something holds
}

var (
	keptRuns = kept{json: "args notes dataset_spec questions resources rivals calibration parameters deviations late", places: map[string]string{
		"tool_version": "tool.version", "tool_commit": "tool.commit", "tool_go": "tool.go", "workload": "", "imported": "",
		"host_os": "host.os", "host_kernel": "host.kernel", "host_arch": "host.arch", "host_cpu": "host.cpu", "host_cores": "host.cores",
		"host_memory": "host.memory", "host_file_system": "host.file_system", "host_virtualization": "host.virtualization", "host_disk": "host.disk",
		"host_swap": "host.swap", "host_numa_nodes": "host.numa_nodes", "host_clock_source": "host.clock_source", "host_governor": "host.governor",
		"host_turbo": "host.turbo", "host_open_files": "host.open_files", "host_cpu_limit": "host.cpu_limit", "host_memory_limit": "host.memory_limit",
		"dataset_spec": "dataset.spec", "fingerprint": "dataset.fingerprint", "digest": "dataset.digest", "series": "dataset.series", "rows": "dataset.rows",
		"metrics": "dataset.metrics", "raw_bytes": "dataset.raw_bytes", "source": "dataset.source", "unverified": "dataset.unverified",
		"lateness": "dataset.lateness", "late": "dataset.late",
	}}
	keptTargets = kept{json: "options changes modules settings turn", flags: "embedded co_located", places: map[string]string{
		"id": "", "run_id": "", "version": "description.version", "edition": "description.edition", "location": "description.location",
		"durability": "description.durability", "settings": "description.settings", "durability_level": "durability",
	}}
	keptLoads   = kept{json: "steps cell mixed retries accumulated", places: latencyAt("batches", map[string]string{"target_id": "", "repeat": "", "cell": ".", "disk_acked": ""})}
	keptRates   = kept{places: map[string]string{"target_id": "", "repeat": "", "position": ""}}
	keptCensus  = kept{json: "contents", places: map[string]string{"target_id": "", "repeat": "", "position": "", "table_name": "table"}}
	keptQueries = kept{json: "each cell open_loop accumulated sample", flags: "cold", places: latencyAt("service", map[string]string{
		"id": "", "target_id": "", "repeat": "", "cell": ".", "checked": "verdict.checked", "checked_empty": "verdict.empty", "checked_rows": "verdict.rows",
		"difference": "verdict.difference", "distinct_queries": "distinct", "open_loop": "open", "result_values": "values", "first_place": "first",
	})}
	keptSweeps = kept{json: "args"}
)

// latencyAt adds the places of a latency's columns.
func latencyAt(key string, places map[string]string) map[string]string {
	for _, name := range []string{"count", "min", "mean", "median", "p90", "p95", "p99", "p999", "max", "stddev", "histogram"} {
		places[name] = key + "." + name
	}
	return places
}

// object is a part of a document on its way.
type object map[string]any

// put puts a value where its column's belongs.
func (k *kept) put(to object, column string, value any) error {
	place, elsewhere := k.places[column]
	if !elsewhere {
		place = column
	}
	has := func(list string) bool { return slices.Contains(strings.Fields(list), column) }
	switch text, isText := value.(string); {
	case value == nil || place == "":
		return nil
	case has(k.flags):
		value = value == int64(1)
	case has(k.json) && !isText:
		return fmt.Errorf("column %s: JSON is kept as text, found %T", column, value)
	case place == ".":
		return json.Unmarshal([]byte(text), &to)
	case has(k.json):
		value = json.RawMessage(text)
	}
	keys := strings.Split(place, ".")
	for _, key := range keys[:len(keys)-1] {
		inner, ok := to[key].(object)
		if !ok {
			inner = object{}
			to[key] = inner
		}
		to = inner
	}
	to[keys[len(keys)-1]] = value
	return nil
}

// rows reads rows of a table, each as a part of a document, beside all its columns.
func (k *kept) rows(ctx context.Context, tx *sql.Tx, query string, args ...any) (parts, columns []object, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		values, to := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, nil, err
		}
		part, all := object{}, object{}
		for i, name := range names {
			all[name] = values[i]
			if err := k.put(part, name, values[i]); err != nil {
				return nil, nil, err
			}
		}
		parts, columns = append(parts, part), append(columns, all)
	}
	return parts, columns, rows.Err()
}

// convert makes documents of the runs of a version that kept them in columns.
func (s *Store) convert(ctx context.Context, tx *sql.Tx) error {
	for _, name := range []string{"runs", "sweeps"} {
		if _, err := tx.ExecContext(ctx, "ALTER TABLE "+name+" RENAME TO kept_"+name); err != nil {
			return err
		}
	}
	for _, statement := range []string{"DROP INDEX runs_started", "DROP INDEX runs_sweep", documentsSchema} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	runs, columns, err := keptRuns.rows(ctx, tx, "SELECT * FROM kept_runs ORDER BY id")
	if err != nil {
		return err
	}
	for i, run := range runs {
		if err := s.convertRun(ctx, tx, run, columns[i]["imported"]); err != nil {
			return fmt.Errorf("making a document of run %v: %w", run["id"], err)
		}
	}
	sweeps, _, err := keptSweeps.rows(ctx, tx, "SELECT * FROM kept_sweeps")
	if err != nil {
		return err
	}
	for _, sweep := range sweeps {
		text, err := json.Marshal(sweep)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO sweeps (id, started, points, document) VALUES (?, ?, ?, ?)", sweep["id"], sweep["started"], sweep["points"], string(text)); err != nil {
			return err
		}
	}
	for _, table := range []string{"query_types", "census", "load_rates", "loads", "targets", "kept_runs", "kept_sweeps"} {
		if _, err := tx.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, sqliteViews)
	return err
}

func (s *Store) convertRun(ctx context.Context, tx *sql.Tx, run object, imported any) error {
	targets, columns, err := keptTargets.rows(ctx, tx, "SELECT * FROM targets WHERE run_id = ? ORDER BY id", run["id"])
	if err != nil {
		return err
	}
	for i, target := range targets {
		if target["repeats"], err = keptRepeats(ctx, tx, columns[i]["id"]); err != nil {
			return err
		}
	}
	run["targets"] = targets
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	r, err := result.DecodeStrictly(text)
	if err != nil {
		return err
	}
	values, err := s.row(r)
	if err != nil {
		return err
	}
	values = append(values, run["id"], imported)
	_, err = tx.ExecContext(ctx, "INSERT INTO documents ("+indexed+", document, figures, id, imported) VALUES ("+marks(len(values))+")", values...)
	return err
}

// keptRepeats reads what was measured of a target, by the number of the repeat.
func keptRepeats(ctx context.Context, tx *sql.Tx, target any) ([]object, error) {
	var repeats []object
	of := func(columns object) object {
		number := columns["repeat"]
		at := slices.IndexFunc(repeats, func(r object) bool { return r["number"] == number })
		if at < 0 {
			at = len(repeats)
			repeats = append(repeats, object{"number": number})
		}
		return repeats[at]
	}
	for _, part := range []struct {
		kept  *kept
		query string
		add   func(repeat, part object)
	}{
		{&keptLoads, "SELECT * FROM loads WHERE target_id = ? ORDER BY repeat", func(repeat, load object) { repeat["load"] = load }},
		{&keptRates, "SELECT * FROM load_rates WHERE target_id = ? ORDER BY repeat, position", func(repeat, rate object) { within(repeat["load"], "rates", rate) }},
		{&keptCensus, "SELECT * FROM census WHERE target_id = ? ORDER BY repeat, position", func(repeat, census object) { within(repeat["load"], "census", census) }},
		{&keptQueries, "SELECT * FROM query_types WHERE target_id = ? ORDER BY repeat, id", func(repeat, q object) { within(repeat, "queries", q) }},
	} {
		parts, columns, err := part.kept.rows(ctx, tx, part.query, target)
		if err != nil {
			return nil, err
		}
		for i := range parts {
			part.add(of(columns[i]), parts[i])
		}
	}
	slices.SortFunc(repeats, func(a, b object) int { return int(a["number"].(int64) - b["number"].(int64)) })
	return repeats, nil
}

// within adds an element to the array of an object.
func within(of any, key string, element object) {
	to := of.(object)
	list, _ := to[key].([]object)
	to[key] = append(list, element)
}
