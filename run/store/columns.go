package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// A column pairs a name with a pointer to where its value lives in Go. The
// same list writes a row, since database/sql follows pointers in arguments,
// and reads it back: the two cannot disagree.
type column struct {
	name  string
	value any
}

func runColumns(r *result.Run) []column {
	return []column{
		{"id", &r.ID},
		{"name", &r.Name},
		{"command", &r.Command},
		{"args", asJSON{&r.Args}},
		{"experiment", &r.Experiment},
		{"notes", asJSON{&r.Notes}},
		{"started", asTime{&r.Started}},
		{"finished", asTime{&r.Finished}},
		{"status", &r.Status},
		{"reason", &r.Reason},
		{"tool_version", &r.Tool.Version},
		{"tool_commit", &r.Tool.Commit},
		{"tool_go", &r.Tool.Go},
		{"host_os", &r.Host.OS},
		{"host_kernel", &r.Host.Kernel},
		{"host_arch", &r.Host.Arch},
		{"host_cpu", &r.Host.CPU},
		{"host_cores", &r.Host.Cores},
		{"host_memory", &r.Host.Memory},
		{"host_file_system", &r.Host.FileSystem},
		{"host_virtualization", &r.Host.Virtualization},
		{"host_disk", &r.Host.Disk},
		{"host_swap", asInteger{&r.Host.Swap}},
		{"host_numa_nodes", &r.Host.NUMANodes},
		{"host_clock_source", &r.Host.ClockSource},
		{"host_governor", &r.Host.Governor},
		{"host_turbo", &r.Host.Turbo},
		{"host_open_files", asInteger{&r.Host.OpenFiles}},
		{"host_cpu_limit", &r.Host.CPULimit},
		{"host_memory_limit", asInteger{&r.Host.MemoryLimit}},
		{"questions", asJSON{&r.Questions}},
		{"workload", &r.Dataset.Spec.Name},
		{"dataset_spec", asJSON{&r.Dataset.Spec}},
		{"fingerprint", &r.Dataset.Fingerprint},
		{"digest", &r.Dataset.Digest},
		{"series", &r.Dataset.Series},
		{"rows", &r.Dataset.Rows},
		{"metrics", &r.Dataset.Metrics},
		{"raw_bytes", &r.Dataset.RawBytes},
		{"source", &r.Dataset.Source},
		{"unverified", &r.Dataset.Unverified},
		{"resources", asJSON{&r.Resources}},
		{"rivals", asJSON{&r.OtherDatabases}},
		{"calibration", asJSON{&r.Calibration}},
		{"lost_operations", &r.LostOperations},
		{"lateness", &r.Dataset.Lateness},
		{"late", asJSON{&r.Dataset.Late}},
		{"sweep", &r.Sweep},
		{"point", &r.Point},
		{"points", &r.Points},
		{"parameters", asJSON{&r.Parameters}},
		{"imported", asTime{&r.Imported}},
		{"check_seed", &r.CheckSeed},
		{"deviations", asJSON{&r.Deviations}},
	}
}

func sweepColumns(s *result.Sweep) []column {
	return []column{
		{"id", &s.ID},
		{"name", &s.Name},
		{"command", &s.Command},
		{"args", asJSON{&s.Args}},
		{"experiment", &s.Experiment},
		{"started", asTime{&s.Started}},
		{"points", &s.Points},
	}
}

func targetColumns(t *result.Target) []column {
	return []column{
		{"name", &t.Name},
		{"kind", &t.Kind},
		{"embedded", &t.Embedded},
		{"options", asJSON{&t.Options}},
		{"changes", asJSON{&t.Changes}},
		{"modules", asJSON{&t.Modules}},
		{"version", &t.Description.Version},
		{"edition", &t.Description.Edition},
		{"location", &t.Description.Location},
		{"durability", &t.Description.Durability},
		{"settings", asJSON{&t.Description.Settings}},
		{"failure", &t.Failure},
		{"co_located", &t.CoLocated},
		{"profile", &t.Profile},
		{"durability_level", &t.Durability},
		{"idle", &t.Idle},
		{"types", &t.Types},
		{"turn", asJSON{&t.Turn}},
		{"twin", &t.Twin},
	}
}

func loadColumns(l *result.Load) []column {
	return append([]column{
		{"workers", &l.Workers},
		{"batch_size", &l.BatchSize},
		{"rows", &l.Rows},
		{"metrics", &l.Metrics},
		{"wire_bytes", &l.WireBytes},
		{"prepare", &l.Prepare},
		{"sent", &l.Sent},
		{"acked", &l.Acked},
		{"settled", &l.Settled},
		{"disk_bytes", &l.DiskBytes},
		{"disk_before", &l.DiskBefore},
		{"disk_acked", &l.DiskAcked},
		{"steps", asJSON{&l.Steps}},
		{"withheld", &l.Withheld},
		{"unverified", &l.Unverified},
		{"skipped", &l.Skipped},
		{"cell", asJSON{&l.Cell}},
		{"mixed", asJSON{&l.Mixed}},
		{"retries", asJSON{&l.Retries}},
		{"accumulated", asJSON{&l.Accumulated}},
		{"disk_left_out", &l.DiskLeftOut},
	}, latencyColumns(&l.Batches)...)
}

func rateColumns(p *result.RatePoint) []column {
	return []column{{"at", &p.At}, {"rows", &p.Rows}}
}

func censusColumns(c *result.CensusResult) []column {
	return []column{
		{"table_name", &c.Table},
		{"expected", &c.Expected},
		{"counted", &c.Counted},
		{"problem", &c.Problem},
		{"lost", &c.Lost},
		{"duplicates", &c.Duplicates},
		{"contents", asJSON{&c.Contents}},
	}
}

func queriesColumns(q *result.Queries) []column {
	return append([]column{
		{"type", &q.Type},
		{"help", &q.Help},
		{"unsupported", &q.Unsupported},
		{"withheld", &q.Withheld},
		{"checked", &q.Verdict.Checked},
		{"checked_empty", &q.Verdict.Empty},
		{"checked_rows", &q.Verdict.Rows},
		{"difference", &q.Verdict.Difference},
		{"workers", &q.Workers},
		{"asked", &q.Asked},
		{"burn_in", &q.BurnIn},
		{"at_least", &q.AtLeast},
		{"distinct_queries", &q.Distinct},
		{"time_box", &q.TimeBox},
		{"timeout", &q.Timeout},
		{"wall", &q.Wall},
		{"per_second", &q.PerSecond},
		{"rows", &q.Rows},
		{"bytes", &q.Bytes},
		{"each", asJSON{&q.Each}},
		{"cell", asJSON{&q.Cell}},
		{"open_loop", asJSON{&q.Open}},
		{"cache", &q.Cache},
		{"cold", &q.Cold},
		{"result_values", &q.Values},
		{"accumulated", asJSON{&q.Accumulated}},
		{"first_place", &q.First},
		{"sample", asJSON{&q.Sample}},
	}, latencyColumns(&q.Service)...)
}

func latencyColumns(l *result.Latency) []column {
	return append(summaryColumns(&l.Summary), column{"histogram", &l.Histogram})
}

func summaryColumns(s *measure.Summary) []column {
	return []column{
		{"count", &s.Count},
		{"min", &s.Min},
		{"mean", &s.Mean},
		{"median", &s.Median},
		{"p90", &s.P90},
		{"p95", &s.P95},
		{"p99", &s.P99},
		{"p999", &s.P999},
		{"max", &s.Max},
		{"stddev", &s.StdDev},
	}
}

func names(columns []column) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name)
	}
	return b.String()
}

func values(columns []column) []any {
	v := make([]any, len(columns))
	for i, c := range columns {
		v[i] = c.value
	}
	return v
}

// insert returns the statement that adds a row.
func insert(table string, columns []column) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, names(columns), strings.Repeat(", ?", len(columns)-1))
}

// upsert returns the statement that adds a row, or replaces the values of the
// one with the same key.
func upsert(table, key string, columns []column) string {
	sets := make([]string, len(columns))
	for i, c := range columns {
		sets[i] = c.name + " = excluded." + c.name
	}
	return insert(table, columns) + " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

// asJSON keeps what it points to as JSON.
type asJSON struct{ to any }

func (j asJSON) Value() (driver.Value, error) {
	b, err := json.Marshal(j.to)
	return string(b), err
}

func (j asJSON) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("JSON is kept as text, found %T", src)
	}
	return json.Unmarshal([]byte(text), j.to)
}

// asInteger keeps what it points to as an integer. SQLite's end at the largest
// int64, as which a limit of the kernel beyond it (which means none) is kept.
type asInteger struct{ to *uint64 }

func (i asInteger) Value() (driver.Value, error) { return int64(min(*i.to, math.MaxInt64)), nil }

func (i asInteger) Scan(src any) error {
	n, ok := src.(int64)
	if !ok || n < 0 {
		return fmt.Errorf("a size is kept as an integer from 0 on, found %v", src)
	}
	*i.to = uint64(n)
	return nil
}

// timeLayout has a fixed width, so that texts sort as times do. SQLite's date
// functions understand it.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// asTime keeps what it points to as text in UTC, the zero time as NULL.
type asTime struct{ to *time.Time }

func (t asTime) Value() (driver.Value, error) {
	if t.to.IsZero() {
		return nil, nil
	}
	return t.to.UTC().Format(timeLayout), nil
}

func (t asTime) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*t.to = time.Time{}
		return nil
	case string:
		var err error
		*t.to, err = time.Parse(timeLayout, src)
		return err
	}
	return fmt.Errorf("a time is kept as text, found %T", src)
}
