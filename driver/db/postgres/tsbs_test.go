package postgres_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// timeBucket is what TSBS's texts need of TimescaleDB: buckets begin where its
// own do.
const timeBucket = `CREATE FUNCTION time_bucket(width interval, ts timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS
	$$ SELECT date_bin(width, ts, timestamptz '2000-01-03 00:00:00+00') $$`

// TestOracleByTSBS runs TSBS's queries for TimescaleDB on TSBS's schema, and compares the oracle's
// results with theirs. docs/tsbs-errata.md lists the differences in meaning between TSBS's queries and
// tsmark's. Trucks without a tag are left out: the texts count each of them as several trucks.
func TestOracleByTSBS(t *testing.T) {
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT()} {
		t.Run(use.Name(), func(t *testing.T) { compareTexts(t, use) })
	}
}

func compareTexts(t *testing.T, use workload.Workload) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{Name: use.Name(), Seed: 123, Scale: 40, Start: start, End: start.Add(24 * time.Hour), Interval: time.Minute}
	full, err := use.Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	dataset := tagged{full, spec.Scale}
	options := server(t)
	admin(t, options, timeBucket)
	resolved, err := new(driver.Driver{Name: "x", Options: postgres.Driver().Options}).Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Driver().Open(t.Context(), driver.Env{Create: true}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	if err := session.New(db).Prepare(t.Context(), dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	load := engine.LoadConfig{Workers: 2, BatchSize: 5000, Period: time.Minute}
	if _, err := engine.Load(t.Context(), load, dataset, db, func(int) {}); err != nil {
		t.Fatal(err)
	}
	config, err := pgwire.NewConfig(connection.NewSettings(resolved))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgwire.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, conn)
	rows := 0
	for _, queryType := range use.QueryTypes() {
		sequence, err := use.Queries(spec, queryType.Name, 5)
		if err != nil {
			t.Fatal(err)
		}
		queries := slices.Collect(sequence)
		for i := range queries {
			q := &queries[i]
			var answer query.Answer
			if _, err := conn.QuerySimple(t.Context(), tsbs.TimescaleDB(q).SQL, &answer); err != nil {
				t.Fatalf("%s %d: %v", q.Type, q.ID, err)
			}
			expected, err := oracle.Rows(t.Context(), dataset, q)
			if err != nil {
				t.Fatal(err)
			}
			rows += len(answer.Rows)
			r := readings[q.Type]
			if r.unlike {
				continue
			}
			table := dataset.Schema().Table(q.Table)
			if r.found != nil {
				r.found(t, table, &answer)
			}
			columns := q.Columns(table)
			compared := *q
			if r.expected != nil {
				columns = r.expected(expected, columns)
				compared = query.Query{Shape: query.Means{Group: make([]string, r.keys)}}
			}
			if d := query.Compare(&compared, columns, expected, &answer); d != nil {
				t.Errorf("%s %d: TSBS's text says otherwise than the oracle: %s", q.Type, q.ID, d)
			}
		}
	}
	if rows < 500 {
		t.Errorf("TSBS's texts returned %d rows in all: nothing was compared", rows)
	}
}

// reading is how the answers of one of TSBS's texts and of the oracle are brought
// into one form. The zero reading compares them as they are.
type reading struct {
	unlike   bool // the text is another query: see docs/tsbs-errata.md
	found    func(t *testing.T, table *series.Table, text *query.Answer)
	expected func(oracle *query.Answer, columns []query.Column) []query.Column
	keys     int // columns that tell rows apart, where expected is set
}

// pick takes columns of each row, in the order of their numbers.
func pick(columns ...int) func(*testing.T, *series.Table, *query.Answer) {
	return func(_ *testing.T, _ *series.Table, a *query.Answer) {
		for i, row := range a.Rows {
			a.Rows[i] = chosen(row, columns)
		}
	}
}

// keep is pick of the oracle's answer and its columns.
func keep(numbers ...int) func(*query.Answer, []query.Column) []query.Column {
	return func(a *query.Answer, columns []query.Column) []query.Column {
		for i, row := range a.Rows {
			a.Rows[i] = chosen(row, numbers)
		}
		return chosen(columns, numbers)
	}
}

func chosen[T any](from []T, numbers []int) []T {
	var list []T
	for _, n := range numbers {
		list = append(list, from[n])
	}
	return list
}

// hostOfID puts the host in the place of the number of its series.
func hostOfID(_ *testing.T, table *series.Table, a *query.Answer) {
	for _, row := range a.Rows {
		name, _ := table.Tag("hostname").Values.Append(nil, uint32(row[1].Int))
		row[1] = query.Value{Kind: query.Text, Text: name}
	}
}

// sessions drops sessions that have not ended, whose length is NULL, and reads
// the lengths of the others.
func sessions(t *testing.T, _ *series.Table, a *query.Answer) {
	var ended [][]query.Value
	for _, row := range a.Rows {
		if row[2].Kind == query.Null {
			continue
		}
		var h, m int
		var s float64
		if _, err := fmt.Sscanf(row[2].String(), "%d:%d:%f", &h, &m, &s); err != nil {
			t.Fatalf("%s is not the length of a session: %v", row[2], err)
		}
		ended = append(ended, []query.Value{row[1], row[0], {Kind: query.Float, Float: float64(3600*h+60*m) + s}})
	}
	a.Rows = ended
}

// wholeHours cuts off the oracle's fractions of hours, as the text's division of
// integers does. There is but one day, so that no mean hides it.
func wholeHours(a *query.Answer, columns []query.Column) []query.Column {
	for _, row := range a.Rows {
		row[1].Float = math.Floor(row[1].Float)
	}
	return columns
}

// readings are the readings other than the zero value.
var readings = map[string]reading{
	"high-cpu-all": {found: hostOfID},
	"high-cpu-1":   {found: hostOfID},
	"lastpoint":    {found: pick(11, 1, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)},
	// The texts do not say when.
	"last-loc":        {expected: keep(1, 2, 3, 4), keys: 1},
	"single-last-loc": {expected: keep(1, 2, 3, 4), keys: 1},
	"low-fuel":        {expected: keep(1, 2, 3), keys: 1},
	"high-load":       {expected: keep(1, 2, 3), keys: 1},
	// Only the query texts have the driver as a column.
	"stationary-trucks":          {found: pick(0), expected: keep(0), keys: 1},
	"long-driving-sessions":      {found: pick(0)},
	"long-daily-sessions":        {found: pick(0)},
	"avg-daily-driving-duration": {found: pick(1, 3), expected: wholeHours, keys: 1},
	"avg-daily-driving-session":  {found: sessions},
	// The text adds up rows where buckets are meant: only its groups are compared.
	"daily-activity":      {found: pick(2, 0, 1), expected: keep(0, 1, 2), keys: 3},
	"breakdown-frequency": {unlike: true},
}

// tagged is a dataset without the rows of series that lack a tag, which are
// those beyond the scale.
type tagged struct {
	workload.Dataset
	scale uint32
}

func (d tagged) Open() workload.Reader {
	return &taggedReader{d.Dataset.Open(), d.scale, new(series.Batch)}
}

type taggedReader struct {
	workload.Reader
	scale uint32
	all   *series.Batch
}

func (r *taggedReader) Next(b *series.Batch, max int) error {
	err := r.Reader.Next(r.all, max)
	b.Reset()
	for i := range r.all.Runs {
		from := &r.all.Runs[i]
		to := b.Add(from.Table)
		n := 0
		for row, s := range from.Series {
			if s >= r.scale {
				continue
			}
			to.Grow(n + 1)
			to.Series[n], to.Times[n] = s, from.Times[row]
			for f := range from.Columns {
				if from.Columns[f].Ints != nil {
					to.Columns[f].Ints[n] = from.Columns[f].Ints[row]
				} else {
					to.Columns[f].Floats[n] = from.Columns[f].Floats[row]
				}
				if from.Lacks(f, row) {
					to.SetNull(f, n)
				}
			}
			n++
		}
	}
	return err
}
