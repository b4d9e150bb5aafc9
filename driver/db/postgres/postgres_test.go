package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// What tsmark did not create is refused, named, and dropped only if it was.
func TestExisting(t *testing.T) {
	options := server(t)
	admin(t, options, "CREATE TABLE cpu (answer int)", "INSERT INTO cpu VALUES (42)", "CREATE VIEW seen AS SELECT * FROM cpu")
	db := open(t, options)
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 3}
	for what, err := range map[string]error{"prepared": session.New(db).Prepare(t.Context(), schema, session.Mark{}), "marked": session.New(db).SetMark(t.Context(), session.Mark{})} {
		if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "table cpu, view seen") {
			t.Errorf("%s: %v", what, err)
		}
	}
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT answer FROM seen"), conformance.Row(42))
	found, err := session.New(db).Existing(t.Context(), schema)
	named := session.Names(found)
	if err != nil || strings.Join(named, ", ") != "table cpu, view seen" {
		t.Fatalf("%v, %v", named, err)
	}
	admin(t, options, "CREATE TABLE later ()")
	if err := session.New(db).Drop(t.Context(), schema, named); err != nil {
		t.Fatal(err)
	}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "later") {
		t.Errorf("after the start: %v", err)
	}
	admin(t, options, "DROP TABLE later")
	conformance.Prepare(t, db, 3, schema.Tables...)
	// Beside a marked dataset others may have tables of other names.
	admin(t, options, "CREATE TABLE mine AS SELECT 42 AS answer")
	conformance.Prepare(t, db, 3, schema.Tables...)
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT answer FROM mine"), conformance.Row(42))
	clash := conformance.Table("a")
	clash.Name = "mine"
	if err := session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{clash}, Series: 3}, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("a name that others bear: %v", err)
	}
}

// TestRowsThatDoNotFit checks that a batch is stored completely or not at all, and that the writer's
// error names the problem with a row.
func TestRowsThatDoNotFit(t *testing.T) {
	for _, layout := range []string{"normalized", "wide", "narrow"} {
		for _, method := range []string{"copy", "insert"} {
			t.Run(layout+" by "+method, func(t *testing.T) {
				db := open(t, server(t, "layout", layout, "method", method))
				table, other := conformance.Table("a"), conformance.Table("a")
				other.Name = "other"
				conformance.Prepare(t, db, 10, table, other)
				for says, spoil := range map[string]func(*series.Run){
					"not of the schema": func(r *series.Run) { r.Series[3] = 10 },
				} {
					var b series.Batch
					conformance.Fill(b.Add(other), 10, 0, 10)
					conformance.Fill(b.Add(table), 10, 0, 10)
					spoil(&b.Runs[1])
					w := conformance.Writer(t, db)
					if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), says) || driver.AsTemporary(err) != nil {
						t.Errorf("%s: %v", says, err)
					}
					conformance.Close(t, w)
				}
				for _, table := range []*series.Table{table, other} {
					if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 0 {
						t.Errorf("%s has %+v, %v", table.Name, census, err)
					}
				}
				conformance.WriteAtOnce(t, db, table, 10, 3, 4, 700)
				if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 8400 || census.Fields[table.FieldIndex("a")].Count != 8400 {
					t.Errorf("%+v, %v", census, err)
				}
			})
		}
	}
}

// A connection that the server ends while a batch is written: the same batch is
// stored by another writer, with the series that the first had claimed.
func TestWriterIsCutOff(t *testing.T) {
	options := server(t)
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	var b series.Batch
	conformance.Fill(b.Add(table), 100, 0, 10)
	w := conformance.Writer(t, db)
	admin(t, options, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	_, err := w.Write(t.Context(), &b)
	if driver.AsTemporary(err) == nil {
		t.Fatalf("no error to try again after: %v", err)
	}
	conformance.Close(t, w)
	conformance.Write(t, db, &b)
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT count(*), count(hostname) FROM cpu JOIN tags ON tags_id = id"), conformance.Row(100, 100))
}

// A server that takes a batch and does not come back with it is given up.
func TestWriteEndsInTime(t *testing.T) {
	options := server(t)
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	limitedOptions := maps.Clone(options)
	limitedOptions["timeout"] = "2s"
	limited := open(t, limitedOptions)
	if err := limited.Join(t.Context(), &series.Schema{Tables: []*series.Table{table}, Series: 10}); err != nil {
		t.Fatal(err)
	}
	w := conformance.Writer(t, limited)
	defer conformance.Close(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	locked, released := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(released)
		q := conformance.Querier(t, db)
		defer conformance.Close(t, q)
		for _, text := range []string{"BEGIN", "LOCK TABLE cpu"} {
			if _, err := q.Do(t.Context(), driver.Request{Text: text}, nil); err != nil {
				t.Error(err)
			}
		}
		close(locked)
		<-ctx.Done()
	}()
	<-locked
	var b series.Batch
	conformance.Fill(b.Add(table), 10, 0, 10)
	start := time.Now()
	_, err := w.Write(t.Context(), &b)
	if took := time.Since(start); driver.AsTemporary(err) == nil || !errors.Is(err, driver.ErrUnreachable) || took > 20*time.Second || !strings.Contains(err.Error(), "2s") {
		t.Errorf("%v after %v", err, took)
	}
	cancel()
	<-released
}

// Steps are done to what Create has made, and shrink nothing away; upkeep is told
// of another run's tables as well.
func TestSteps(t *testing.T) {
	for _, partition := range []string{"", "1h"} {
		options := server(t, "partition", partition)
		db := open(t, options)
		table := conformance.Table("a", "b")
		conformance.Prepare(t, db, 10, table)
		conformance.WriteAtOnce(t, db, table, 10, 2, 5, 2000)
		again := open(t, options)
		upkept(t, again, " 0 vacuumed and ", "; 0 % of their pages are known to be visible to all, ")
		for _, s := range db.Steps {
			if err := s.Do(t.Context()); err != nil {
				t.Errorf("partition %q: %v", partition, err)
			}
		}
		if err := again.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		upkept(t, again, " vacuumed and ", "since they were made, the last one at ", "; 100 % of their pages are known to be visible to all, 0 rows are dead; autovacuum is ")
		if n, err := db.Footprint(t.Context()); err != nil || n.Bytes < 20_000*(8+4+8+8) || n.Bytes > 10_000_000 {
			t.Errorf("partition %q: footprint %+v, %v", partition, n, err)
		}
		conformance.CheckRows(t, conformance.Query(t, again, "SELECT count(*) FROM cpu"), conformance.Row(20_000))
		d, err := again.Describe(t.Context())
		if err != nil || !strings.HasPrefix(d.Version, "1") || d.Settings["shared_buffers"] == "" || strings.Contains(d.Location, conformance.Password(t)) {
			t.Errorf("%+v, %v", d, err)
		}
		metrics, err := again.ReadMetrics(t.Context())
		if err != nil || metrics["wal_bytes_total"] <= 0 {
			t.Errorf("%v, %v", metrics, err)
		}
	}
}

// upkept waits until the server tells the state of vacuums in these words: it
// counts some time after the deed.
func upkept(t *testing.T, db driver.DB, want ...string) {
	t.Helper()
	own, err := session.New(db).OwnObjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		var err error
		if text, err = db.Upkeep(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
	}
	t.Errorf("got %q, want %q in it", text, want)
}

func TestDurability(t *testing.T) {
	for level, want := range map[string]string{driver.Relaxed: "before the write-ahead log is on disk", driver.Strict: "forced to disk by fsync, before"} {
		d := postgres.Driver()
		chosen, err := d.Choose("tuned", level, server(t))
		if err != nil {
			t.Fatal(err)
		}
		db := open(t, chosen)
		if d, err := db.Describe(t.Context()); err != nil || !strings.Contains(d.Durability, want) || (d.Safety == driver.OnDisk) != (level == driver.Strict) || d.Settings["work_mem"] != "256MB" || d.Settings["jit"] != "off" {
			t.Errorf("%s: %+v, %v", level, d, err)
		}
	}
}

// TestWriteAllocatesNothing: a batch costs no more memory for having more rows.
func TestWriteAllocatesNothing(t *testing.T) {
	for _, layout := range []string{"normalized", "wide", "narrow"} {
		db := open(t, server(t, "layout", layout, "index", "none"))
		table := conformance.Table("a", "b", "c")
		conformance.Prepare(t, db, 10, table)
		w := conformance.Writer(t, db)
		allocations := func(rows int) float64 {
			var b series.Batch
			conformance.Fill(b.Add(table), rows, 0, 10)
			return testing.AllocsPerRun(5, func() {
				if _, err := w.Write(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
			})
		}
		few, many := allocations(10), allocations(10_000)
		if perRow := (many - few) / 10_000; perRow > 0.01 {
			t.Errorf("%s: %v allocations for 10 rows, %v for 10,000", layout, few, many)
		}
		conformance.Close(t, w)
	}
}

func TestOptions(t *testing.T) {
	d := postgres.Driver()
	for set, says := range map[[2]string]string{
		{"layout", "long"}:      "normalized, wide, narrow",
		{"partition", "90ms"}:   "at least 1m",
		{"work_mem", "64"}:      "kB, MB or GB",
		{"integers", "int"}:     "double, bigint",
		{"field_indexes", "-1"}: "0 or more",
	} {
		if _, err := d.Resolve(map[string]string{set[0]: set[1]}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", set, err)
		}
	}
}

// BenchmarkWrite commits a batch of 10,000 rows in each round, of a table like
// TSBS's cpu: ten int fields.
func BenchmarkWrite(b *testing.B) {
	for name, pairs := range map[string][]string{
		"copy": nil, "insert": {"method", "insert"}, "wide": {"layout", "wide"}, "narrow": {"layout", "narrow"}, "unindexed": {"index", "none", "unlogged", "on"},
	} {
		b.Run(name, func(b *testing.B) {
			const rows, hosts = 10_000, 100
			db := open(b, server(b, pairs...))
			table := conformance.Table("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9")
			conformance.Prepare(b, db, hosts, table)
			w := conformance.Writer(b, db)
			defer conformance.Close(b, w)
			var batch series.Batch
			run := batch.Add(table)
			conformance.Fill(run, rows, 0, hosts)
			b.ReportAllocs()
			for b.Loop() {
				for r := range run.Times {
					run.Times[r] += rows * 1000
				}
				if _, err := w.Write(b.Context(), &batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// Who may not make tables learns it before anything is loaded.
func TestInspectReportsRights(t *testing.T) {
	options := server(t)
	admin(t, options, "DROP ROLE IF EXISTS tsmark_poor", "CREATE ROLE tsmark_poor LOGIN PASSWORD 'poor'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	t.Cleanup(func() { admin(t, options, "DROP ROLE tsmark_poor") })
	poor := maps.Clone(options)
	poor["user"], poor["password"] = "tsmark_poor", "poor"
	err := open(t, poor).Inspect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "user tsmark_poor may not make tables in schema public; have an administrator run GRANT CREATE ON SCHEMA public TO tsmark_poor") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if err := open(t, options).Inspect(t.Context()); err != nil {
		t.Error(err)
	}
}
