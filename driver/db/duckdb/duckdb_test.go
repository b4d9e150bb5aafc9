//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/duckdb"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

func TestRoundTrip(t *testing.T) {
	db := open(t, "")
	table := &series.Table{
		Name: "select", // a reserved word
		Tags: []series.Tag{
			{Key: "hostname", Values: conformance.Names{"short", "a name of more than twelve bytes", "日本語の'ホスト\"", ""}},
			{Key: "Rack", Values: conformance.Names{"r0", conformance.Missing, "r2", "r3"}},
		},
		Fields: []series.Field{{Name: "whole", Type: series.Int}, {Name: "Real value", Type: series.Float}},
	}
	conformance.Prepare(t, db, 4, table)

	var b series.Batch
	run := b.Add(table)
	run.Grow(5)
	copy(run.Series, []uint32{0, 1, 2, 3, 0})
	copy(run.Times, []int64{0, -1_000, 1_451_606_400_123_456_000, -62_135_596_800_000_000, 1})
	run.Times[4] = 9_223_372_036_854_775_000
	copy(run.Columns[0].Ints, []int64{math.MaxInt64, math.MinInt64, -1, 77, 0})
	copy(run.Columns[1].Floats, []float64{math.MaxFloat64, -math.SmallestNonzeroFloat64, 0.1, math.Inf(1), 88})
	run.Columns[0].Nulls = series.Bitmap{1 << 3}
	run.Columns[1].Nulls = series.Bitmap{1 << 4}
	receipt := conformance.Write(t, db, &b)
	if receipt.Rows != 5 || receipt.Acked.Before(receipt.Sent) || receipt.Sent.IsZero() || receipt.WireBytes <= 5*(8+4+2*8) {
		t.Errorf("receipt %+v", receipt)
	}

	got := conformance.Query(t, db, `SELECT time, hostname, "Rack", whole, "Real value" FROM "select" JOIN tags ON tags.id = tags_id ORDER BY time`)
	want := [][]query.Value{
		conformance.Row(timeValue(-62_135_596_800_000_000), "", "r3", nil, math.Inf(1)),
		conformance.Row(timeValue(-1_000), "a name of more than twelve bytes", nil, math.MinInt64, -math.SmallestNonzeroFloat64),
		conformance.Row(timeValue(0), "short", "r0", math.MaxInt64, math.MaxFloat64),
		conformance.Row(timeValue(1_451_606_400_123_456_000), "日本語の'ホスト\"", "r2", -1, 0.1),
		conformance.Row(timeValue(9_223_372_036_854_775_000), "short", "r0", 0, nil),
	}
	conformance.CheckRows(t, got, want...)

	census, err := db.Census(t.Context(), table)
	if err != nil || census.Rows != 5 || census.Fields[0].Count != 4 || census.Fields[1].Count != 4 {
		t.Errorf("census %+v, %v", census, err)
	}
}

func TestRenderedQueriesRun(t *testing.T) {
	db := open(t, "")
	table := conformance.Table("a", "b")
	table.Tags[0].Values = conformance.Names{"it's", `back\slash`, "日本"}
	conformance.Prepare(t, db, 3, table)
	var b series.Batch
	run := b.Add(table)
	run.Grow(9)
	for i := range 9 {
		run.Series[i] = uint32(i % 3)
		run.Times[i] = int64(i/3-1) * int64(30*time.Second) // -30 s, 0, 30 s
		run.Columns[0].Ints[i] = int64(i)
		run.Columns[1].Ints[i] = int64(10 * i)
	}
	conformance.Write(t, db, &b)

	week := 7 * 24 * time.Hour
	names := []string{"it's", "日本"}
	tests := map[string]struct {
		query query.Query
		want  [][]query.Value
	}{
		"max a minute": {
			query.Query{Shape: query.Buckets{Aggregate: query.Max, Fields: []string{"a"}, Width: time.Minute, Order: query.Ascending}},
			[][]query.Value{conformance.Row(timeValue(-60e9), 2), conformance.Row(timeValue(0), 8)},
		},
		"newest bucket of chosen series": {
			query.Query{In: &query.TagIn{Key: "hostname", Values: []string{`back\slash`, "it's", "' OR ''='"}}, Shape: query.Buckets{Aggregate: query.Max, Fields: []string{"b", "a"}, Width: time.Minute, Order: query.Descending, Limit: 1}},
			[][]query.Value{conformance.Row(timeValue(0), 70, 7)},
		},
		"weeks before and after 1970": {
			query.Query{Shape: query.Buckets{Aggregate: query.Avg, Fields: []string{"a"}, Width: week, Order: query.Ascending}},
			[][]query.Value{conformance.Row(timeValue(-int64(week)), 1.0), conformance.Row(timeValue(0), 5.5)},
		},
		"mean of each of two": {
			query.Query{In: &query.TagIn{Key: "hostname", Values: names}, End: time.Unix(0, 1), Shape: query.Buckets{Aggregate: query.Avg, GroupBy: "hostname", Fields: []string{"a"}, Width: 1500 * time.Millisecond, Order: query.Ascending}},
			[][]query.Value{
				conformance.Row(timeValue(-30e9), "it's", 0.0), conformance.Row(timeValue(-30e9), "日本", 2.0),
				conformance.Row(timeValue(0), "it's", 3.0), conformance.Row(timeValue(0), "日本", 5.0),
			},
		},
		"rows above": {
			query.Query{Filter: &query.ValueFilter{Field: "a", Value: 6.5}, Shape: query.Rows{Tag: "hostname", Fields: []string{"b"}, Order: query.Ascending}},
			[][]query.Value{conformance.Row(timeValue(30e9), "back\\slash", 70), conformance.Row(timeValue(30e9), "日本", 80)},
		},
		"rows from a start that DuckDB cannot name": {
			query.Query{Start: time.Unix(0, 1), In: &query.TagIn{Key: "hostname", Values: names[1:]}, Shape: query.Rows{Fields: []string{"a"}}},
			[][]query.Value{conformance.Row(timeValue(30e9), 8)},
		},
		"last rows": {
			query.Query{Shape: query.Last{By: "hostname", Fields: []string{"b"}}},
			[][]query.Value{conformance.Row(timeValue(30e9), "back\\slash", 70), conformance.Row(timeValue(30e9), "it's", 60), conformance.Row(timeValue(30e9), "日本", 80)},
		},
		"last rows of one value that several series share": {
			query.Query{End: time.Unix(0, 1), Filter: &query.ValueFilter{Field: "a", Value: 4}, Shape: query.Last{By: "region", Fields: []string{"b"}}},
			[][]query.Value{conformance.Row(timeValue(0), "eu", 50)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.query.Table = "cpu"
			request, err := duckdb.Driver().Render(&test.query, &series.Schema{Tables: []*series.Table{table}, Series: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			conformance.CheckRows(t, conformance.Query(t, db, request.Text), test.want...)
		})
	}
}

// Runs of many lengths, in alternating tables, so that they fill chunks
// unevenly and cross their ends.
func TestManyRuns(t *testing.T) {
	db := open(t, "")
	tables := []*series.Table{conformance.Table("a", "b"), conformance.Table("x")}
	tables[1].Name = "mem"
	conformance.Prepare(t, db, 5000, tables...)
	type sums struct{ rows, times, series, values, nulls int64 }
	var want [2]sums
	var b series.Batch
	row := int64(0)
	for _, rows := range []int{1, 63, 2047, 2049, 1, 6000, 130, 4096} {
		for i, table := range tables {
			run := b.Add(table)
			run.Grow(rows)
			last := &run.Columns[len(run.Columns)-1]
			last.Nulls = make(series.Bitmap, (rows+63)/64)
			for j := range last.Nulls {
				last.Nulls[j] = 0xaaaa_0000_ffff_8001 // beyond the run's end as well
			}
			for r := range rows {
				row++
				run.Series[r] = uint32(row % 5000)
				run.Times[r] = row * 1000
				for c := range run.Columns {
					run.Columns[c].Ints[r] = row
				}
				want[i].rows++
				want[i].times += row
				want[i].series += row % 5000
				if last.Nulls.Has(r) {
					want[i].nulls++
				} else {
					want[i].values += row
				}
			}
		}
	}
	conformance.Write(t, db, &b)
	for i, field := range []string{"b", "x"} {
		got := conformance.Query(t, db, fmt.Sprintf(`SELECT count(*), sum(epoch_us(time)), sum(tags_id), sum(%s), count(*) - count(%[1]s) FROM %s`, field, tables[i].Name))
		w := want[i]
		conformance.CheckRows(t, got, conformance.Row(w.rows, w.times, w.series, w.values, w.nulls))
	}
	for _, tags := range []string{"tags", "mem_tags"} {
		got := conformance.Query(t, db, "SELECT count(*), count(DISTINCT id), max(hostname) FROM "+tags)
		conformance.CheckRows(t, got, conformance.Row(5000, 5000, "host_999"))
	}
}

func TestConcurrentWriters(t *testing.T) {
	db := open(t, "")
	table := conformance.Table("a")
	conformance.Prepare(t, db, 300, table)
	const workers, batches, rows = 4, 8, 2500
	conformance.WriteAtOnce(t, db, table, 300, workers, batches, rows)
	got := conformance.Query(t, db, "SELECT count(*), count(DISTINCT time), count(DISTINCT hostname) FROM cpu JOIN tags ON id = tags_id")
	conformance.CheckRows(t, got, conformance.Row(workers*batches*rows, workers*batches*rows, 300))
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT count(*) FROM tags"), conformance.Row(300))
}

func TestFailedBatchLeavesNothing(t *testing.T) {
	db := open(t, "")
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	w, err := db.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, w)
	var b series.Batch
	run := b.Add(table)
	conformance.Fill(run, 5000, 0, 10)
	run.Series[4999] = 64
	if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "series 64") {
		t.Errorf("an unknown series: %v", err)
	}
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT (SELECT count(*) FROM cpu), (SELECT count(*) FROM tags)"), conformance.Row(0, 0))

	run.Series[4999] = 1
	if _, err := w.Write(t.Context(), &b); err != nil {
		t.Error(err)
	}
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT (SELECT count(*) FROM cpu), (SELECT count(*) FROM tags)"), conformance.Row(5000, 10))

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Write(cancelled, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	b.Reset()
	b.Add(conformance.Table("a"))
	if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "not of the schema") {
		t.Errorf("a foreign table: %v", err)
	}
}

func TestMark(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	if _, err := session.New(db).Mark(t.Context()); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("empty database: %v", err)
	}
	if err := session.New(db).SetMark(t.Context(), session.Mark{}); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("marking an empty database: %v", err)
	}
	table := conformance.Table("a")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 10}
	mark := session.Mark{
		Dataset:     workload.Spec{Name: "it's", Seed: 1, Start: time.Unix(5, 6).UTC()},
		Fingerprint: "f", RowsExpected: -1, Loaded: time.Unix(7, 8).UTC(), Tool: "test",
	}
	if err := session.New(db).Prepare(t.Context(), schema, mark); err != nil {
		t.Fatal(err)
	}
	mark.Complete, mark.RowsAcked = true, 5
	if err := session.New(db).SetMark(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
	conformance.Query(t, db, "CREATE TABLE mine AS SELECT 42 AS answer")
	conformance.Close(t, db)

	db = open(t, dir)
	if got, err := session.New(db).Mark(t.Context()); err != nil || !reflect.DeepEqual(got, mark) {
		t.Errorf("read %+v, %v; want %+v", got, err, mark)
	}
	other := conformance.Table("a")
	other.Name = "other"
	if err := session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{other}, Series: 10}, mark); err != nil {
		t.Fatal(err)
	}
	got := conformance.Query(t, db, "SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM duckdb_tables()")
	conformance.CheckRows(t, got, conformance.Row("mine other tags tsmark_mark"))

	mine := conformance.Table("a")
	mine.Name = "mine"
	if err := session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{mine}, Series: 10}, mark); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("a table that is another's: %v", err)
	}
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT answer FROM mine"), conformance.Row(42))
	if got, err := session.New(db).Mark(t.Context()); err != nil || !reflect.DeepEqual(got, mark) {
		t.Errorf("after a refusal: %+v, %v", got, err)
	}
}

func TestExistingDataIsLeftAlone(t *testing.T) {
	for name, statement := range map[string]string{
		"tables":          "CREATE TABLE cpu AS SELECT 42 AS answer",
		"view":            "CREATE VIEW cpu AS SELECT 42 AS answer",
		"another schema":  "CREATE SCHEMA s; CREATE TABLE s.cpu AS SELECT 42 AS answer; CREATE VIEW cpu AS FROM s.cpu",
		"name of a mark":  "CREATE TABLE tsmark_mark AS SELECT 42 AS answer; CREATE VIEW cpu AS FROM tsmark_mark",
		"not JSON":        "CREATE TABLE tsmark_mark AS SELECT 'x' AS content; CREATE VIEW cpu AS SELECT 42 AS answer",
		"two marks in it": `CREATE TABLE tsmark_mark AS SELECT '{}' AS content FROM range(2); CREATE VIEW cpu AS SELECT 42 AS answer`,
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, "")
			conformance.Query(t, db, statement)
			_, err := session.New(db).Mark(t.Context())
			if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "cpu") && !strings.Contains(err.Error(), "tsmark_mark") {
				t.Errorf("ReadMark: %v", err)
			}
			schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 10}
			if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
				t.Errorf("Prepare: %v", err)
			}
			conformance.CheckRows(t, conformance.Query(t, db, "SELECT answer FROM cpu"), conformance.Row(42))
		})
	}
}

func TestOpenErrors(t *testing.T) {
	duck := duckdb.Driver()
	dir := t.TempDir()
	corrupt := filepath.Join(dir, "corrupt.duckdb")
	content := bytes.Repeat([]byte("no database "), 1000)
	if err := os.WriteFile(corrupt, content, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		path string
		err  error
		says string
	}{
		"no DuckDB file": {corrupt, driver.ErrExisting, "no DuckDB file"},
		"no folder":      {filepath.Join(dir, "none", "x.duckdb"), driver.ErrUnreachable, "make the folder"},
		"a folder":       {dir, driver.ErrUnreachable, dir},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := duck.Open(t.Context(), driver.Env{Dir: dir, Create: true}, driver.Options{"path": test.path})
			if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) || db.Required != nil {
				t.Errorf("got %v, %v", db, err)
			}
		})
	}
	if after, err := os.ReadFile(corrupt); err != nil || !bytes.Equal(after, content) {
		t.Errorf("the file was changed: %v", err)
	}
	for option, value := range map[string]string{"threads": "0", "memory_limit": "much", "path": ":memory:"} {
		if _, err := duck.Resolve(map[string]string{option: value}); err == nil {
			t.Errorf("%s=%s was accepted", option, value)
		}
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own name.db")
	duck := duckdb.Driver()
	options, err := duck.Resolve(map[string]string{"path": path, "threads": "1", "memory_limit": "200MiB"})
	if err != nil {
		t.Fatal(err)
	}
	db, err := duck.Open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	d, err := db.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Version, "1.") || d.Location != path || d.Durability == "" ||
		d.Settings["threads"] != "1" || d.Settings["memory_limit"] != "200.0 MiB" || d.Settings["checkpoint_threshold"] == "" {
		t.Errorf("%+v", d)
	}
}

func TestCancelledQuery(t *testing.T) {
	db := open(t, "")
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	const long = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
	for _, limit := range []time.Duration{0, time.Microsecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		start := time.Now()
		_, err = q.Do(ctx, driver.Request{Text: long}, nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", limit, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("interrupting took %v", took)
		}
	}
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
		t.Errorf("the next query: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	db := open(t, "")
	long := strings.Repeat("long ", 100)
	got := conformance.Query(t, db, `SELECT true, -7::INTEGER, 7::UINTEGER, sum(x), NULL::VARCHAR, repeat('long ', 100), '123456789012', '1234567890123', -0.0015
		FROM (VALUES (-9223372036854775807), (-1)) v(x)`)
	conformance.CheckRows(t, got, conformance.Row(1, -7, 7, math.MinInt64, nil, long, "123456789012", "1234567890123", -0.0015))

	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	cost, err := q.Do(t.Context(), driver.Request{Text: "SELECT range, 'abc', NULL FROM range(5000)"}, nil)
	if want := (driver.Cost{Rows: 5000, Bytes: 5000 * (8 + 3)}); cost != want || err != nil {
		t.Errorf("cost %+v, %v; want %+v", cost, err, want)
	}
	for text, says := range map[string]string{
		"SELECT INTERVAL 1 DAY":            "cast it",
		"SELECT TIME '10:00:00'":           "cast it",
		"SELECT 9223372036854775808":       "64 bits",
		"SELECT 12345678901234567890.5":    "64 bits",
		"SELECT -9223372036854775809":      "64 bits",
		"SELECT TIMESTAMP 'infinity'":      "years",
		"SELECT TIMESTAMP '1492-10-12'":    "years",
		"SELECT 1 \x00; DROP TABLE nobody": "NUL",
		"SELECT nothing":                   "nothing",
		"SELEC":                            "SELEC",
	} {
		if _, err := q.Do(t.Context(), driver.Request{Text: text}, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	enough := errors.New("enough")
	if _, err := q.Do(t.Context(), driver.Request{Text: "FROM range(10000)"}, query.SinkFunc(func([]query.Value) error { return enough })); err != enough {
		t.Errorf("the sink's error became %v", err)
	}
}

func TestLifecycle(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	if _, err := db.NewWriter(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "prepare") {
		t.Errorf("a writer before Prepare: %v", err)
	}
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	empty, err := db.Footprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	conformance.Fill(b.Add(table), 50_000, 0, 10)
	conformance.Write(t, db, &b)
	before, err := db.Footprint(t.Context())
	if err != nil || before.Bytes < 100_000 {
		t.Errorf("footprint with a log: %+v, %v", before, err)
	}
	if err := db.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, "tsmark.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	const block = 262144 // one block may be free, which held the note before
	if n, err := db.Footprint(t.Context()); err != nil || n.Bytes > info.Size() || n.Bytes < info.Size()-block {
		t.Errorf("footprint after settling: %+v, %v; the file has %d", n, err, info.Size())
	}
	conformance.Prepare(t, db, 10, table)
	if n, err := db.Footprint(t.Context()); err != nil || n.Bytes != empty.Bytes {
		t.Errorf("footprint after replacing the data: %+v, %v; it began with %+v", n, err, empty)
	}

	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "1 of its") {
		t.Errorf("closing with an open querier: %v", err)
	}
	conformance.Close(t, q)
	conformance.Close(t, q)
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err == nil {
		t.Error("a closed querier answers")
	}
	if _, err := db.Census(t.Context(), table); err == nil {
		t.Error("a closed database counts")
	}
	if _, err := db.NewQuerier(t.Context(), 0); err == nil {
		t.Error("a closed database opens a querier")
	}
}

// holdVariable makes TestHoldFile, in a process of its own, hold the folder's
// database open.
const holdVariable = "TSMARK_TEST_HOLD"

func TestHoldFile(t *testing.T) {
	dir := os.Getenv(holdVariable)
	if dir == "" {
		t.Skip("part of TestOtherProcess")
	}
	db := open(t, dir)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	var b series.Batch
	conformance.Fill(b.Add(table), 5000, 0, 10)
	conformance.Write(t, db, &b)
	fmt.Println("acknowledged")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A file that another process holds cannot be opened, and what that process
// had acknowledged is there after it was killed.
func TestOtherProcess(t *testing.T) {
	dir := t.TempDir()
	other := osexec.Command(os.Args[0], "-test.run=^TestHoldFile$")
	other.Env = append(os.Environ(), holdVariable+"="+dir)
	other.Stderr = os.Stderr
	output, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StdinPipe(); err != nil { // it waits for its end
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "acknowledged\n" {
		t.Errorf("the other process said %q, %v", line, err)
	}
	_, err = duckdb.Driver().Open(t.Context(), driver.Env{Dir: dir, Create: true}, driver.Options{})
	if !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), fmt.Sprint("PID ", other.Process.Pid)) {
		t.Errorf("opening a file that another process holds: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	conformance.CheckRows(t, conformance.Query(t, open(t, dir), "SELECT (SELECT count(*) FROM cpu), (SELECT count(*) FROM tags)"),
		conformance.Row(5000, 10))
}

func open(t testing.TB, dir string) driver.DB {
	t.Helper()
	return conformance.Open(t, duckdb.Driver(), dir)
}

func timeValue(ns int64) query.Value { return query.Value{Kind: query.Time, Int: ns} }
