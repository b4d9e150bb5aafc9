package griddb

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// openDatabase opens a database of the test's own.
func openDatabase(t *testing.T, pairs ...string) *database {
	t.Helper()
	pairs = FromEnvironment(pairs...)
	return conformance.OpenAt(t, Driver(), conformance.TestServer(t, Driver(), pairs...)).Required.(*database)
}

// FromEnvironment adds the ports that the environment names. Tests of the package griddb_test
// use it too.
func FromEnvironment(pairs ...string) []string {
	for option, variable := range map[string]string{optionSystemPort: "TSMARK_TEST_GRIDDB_SYSTEM_PORT", optionSQLPort: "TSMARK_TEST_GRIDDB_SQL_PORT"} {
		if port := os.Getenv(variable); port != "" {
			pairs = append(pairs, option, port)
		}
	}
	return pairs
}

// Nothing goes that tsmark did not make: no container in a database without its mark, none
// that somebody made again under a name of tsmark's, and none of a series either.
func TestExistingData(t *testing.T) {
	d := openDatabase(t, "database", "test_existing")
	do := func(of func(context.Context, *client.Session) error) {
		t.Helper()
		if err := d.withSession(t.Context(), func(s *client.Session) error { return of(t.Context(), s) }); err != nil {
			t.Fatal(err)
		}
	}
	theirs := func(name string) {
		t.Helper()
		do(func(ctx context.Context, s *client.Session) error {
			_, err := s.PutContainer(ctx, client.Container{Name: name, Type: client.TimeSeries, Keys: 1, Columns: []client.Column{{Name: "at", Type: client.Timestamp, NotNull: true}}})
			return err
		})
	}
	gone := func(names ...string) {
		t.Helper()
		do(func(ctx context.Context, s *client.Session) error { return drop(ctx, s, names) })
	}
	there := func() (names []string) {
		t.Helper()
		do(func(ctx context.Context, s *client.Session) (err error) {
			names, err = s.ContainerNames(ctx)
			return err
		})
		return names
	}
	gone(there()...)
	s, schema := session.New(d.db()), &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
	table := schema.Tables[0].Name
	refused := func(says string) {
		t.Helper()
		err := s.Prepare(t.Context(), schema, session.Mark{})
		if stub.Says(t, err, says); !errors.Is(err, driver.ErrExisting) {
			t.Errorf("%v is no ErrExisting", err)
		}
	}
	load := func() error {
		t.Helper()
		w, err := d.NewWriter(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer conformance.Close(t, w)
		var b series.Batch
		run := b.Add(schema.Tables[0])
		run.Grow(3)
		for i := range 3 {
			run.Series[i], run.Times[i] = uint32(i), int64(i+1)*1e9
			for f := range run.Columns {
				run.SetNull(f, i)
			}
		}
		_, err = w.Write(t.Context(), &b)
		return err
	}
	theirs("theirs")
	refused("container theirs")
	gone("theirs")
	for range 2 { // what tsmark made goes
		if err := s.Prepare(t.Context(), schema, session.Mark{Tool: "t"}); err != nil {
			t.Fatal(err)
		}
		if err := load(); err != nil {
			t.Fatal(err)
		}
	}
	// A registry that somebody made again.
	gone(table+registrySuffix, table+"_0", table+"_1", table+"_2")
	theirs(table + registrySuffix)
	refused("container " + table + registrySuffix)
	gone(table + registrySuffix)
	if err := s.Prepare(t.Context(), schema, session.Mark{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	// A container of a series that somebody made again stays.
	if err := load(); err != nil {
		t.Fatal(err)
	}
	gone(table + "_1")
	theirs(table + "_1")
	if err := s.Prepare(t.Context(), schema, session.Mark{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	if names := there(); !slices.Contains(names, table+"_1") || slices.Contains(names, table+"_0") {
		t.Errorf("there are %q", names)
	}
	// And nothing is written into it.
	if err := load(); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("%v is no ErrExisting", err)
	}
	gone(there()...)
}

// A drop of many containers ends soon, and takes them all.
func TestDropMany(t *testing.T) {
	d := openDatabase(t, "database", "test_many")
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 4000}
	schema.Tables[0].Tags = nil
	s := session.New(d.db())
	if err := s.Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	w, err := d.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	run := b.Add(schema.Tables[0])
	run.Grow(4000)
	for i := range 4000 {
		run.Series[i], run.Times[i] = uint32(i), 1e9
		for f := range run.Columns {
			run.SetNull(f, i)
		}
	}
	if _, err := w.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	conformance.Close(t, w)
	objects, err := d.Objects(t.Context())
	if err != nil || len(objects) != 4002 {
		t.Fatalf("%d objects: %v", len(objects), err)
	}
	own, err := s.OwnObjects(t.Context())
	if err != nil || len(own) != 1 {
		t.Fatalf("%v, %v", own, err)
	}
	if err := d.Drop(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if objects, err = d.Objects(t.Context()); err != nil || len(objects) != 1 {
		t.Errorf("%d objects: %v", len(objects), err)
	}
}

// An answer by SQL that has more than the server sends at a time comes whole.
func TestSQLPages(t *testing.T) {
	d := openDatabase(t, "database", "test_pages", optionLayout, layoutTable, optionLanguage, languageSQL)
	const n = 40
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: n}
	if err := session.New(d.db()).Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	w, err := d.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, w)
	var b series.Batch
	run := b.Add(schema.Tables[0])
	run.Grow(n)
	for i := range n {
		run.Series[i], run.Times[i] = uint32(i), 1e9
	}
	if _, err := w.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	every := driver.Request{Text: `SELECT a."series", b."series", c."series", 'a text of some length' FROM cpu a, cpu b, cpu c`}
	seen, cut := map[[3]int64]bool{}, errors.New("enough")
	cost, err := q.Do(t.Context(), every, query.SinkFunc(func(row []query.Value) error {
		seen[[3]int64{row[0].Int, row[1].Int, row[2].Int}] = true
		return nil
	}))
	if err != nil || cost.Rows != n*n*n || len(seen) != n*n*n || cost.Bytes < 2<<20 {
		t.Errorf("%d rows of %d bytes, %d different: %v", cost.Rows, cost.Bytes, len(seen), err)
	}
	if _, err := q.Do(t.Context(), every, query.SinkFunc(func([]query.Value) error { return cut })); !errors.Is(err, cut) {
		t.Errorf("%v", err)
	}
	if cost, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil || cost.Rows != 1 {
		t.Errorf("after a query that was not read to its end: %d rows: %v", cost.Rows, err)
	}
}
