package questdb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver())
}

// setOptions returns options with others set.
func setOptions(options map[string]string, pairs ...string) map[string]string {
	for i := 0; i < len(pairs); i += 2 {
		options[pairs[i]] = pairs[i+1]
	}
	return options
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// With keys, rows that are written again replace the first ones.
func TestChangesByKeys(t *testing.T) {
	conformance.Changes(t, Driver(), setOptions(server(t), optionDedup, dedupAllTags, optionPartitionBy, "week"))
}

// Rows that nobody acknowledges, and the other way of reading.
func TestConformanceTCPAndREST(t *testing.T) {
	conformance.RunVariant(t, Driver(), setOptions(server(t), optionRead, readREST, optionProtocol, protocolTCP))
}

// connect opens the server's database with further options, and leaves nothing
// in it.
func connect(t *testing.T, pairs ...string) *database {
	t.Helper()
	d := Driver()
	options, err := d.Resolve(setOptions(server(t), pairs...))
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conformance.Close(t, db) })
	return db.Required.(*database)
}

// Tables by year whose tags have indexes hold the same rows, and the server reports both.
func TestConformanceOfYearsAndIndexes(t *testing.T) {
	conformance.RunWrites(t, Driver(), setOptions(server(t), optionPartitionBy, "year", optionIndex, "true"))
}

// What the server says of its indexes is compared with the option.
func TestIndexes(t *testing.T) {
	db := connect(t, optionIndex, "true")
	conformance.Prepare(t, db.db(), 3, conformance.Table("usage"))
	if err := driver.Contradiction(t.Context(), db.db()); err != nil {
		t.Error(err)
	}
	if _, err := db.own.Query(t.Context(), "ALTER TABLE cpu ALTER COLUMN hostname DROP INDEX"); err != nil {
		t.Fatal(err)
	}
	stub.Says(t, poll.Wait(t.Context(), time.Millisecond, time.Second, func() (bool, error) { // the log is applied later
		return false, driver.Contradiction(t.Context(), db.db())
	}), "option index=true is not in effect")
}

// Rows that come again replace the earlier ones where that was wanted.
func TestDedup(t *testing.T) {
	for dedup, want := range map[string]int64{dedupOff: 10, dedupAllTags: 5, "hostname": 5} {
		db := connect(t, optionDedup, dedup)
		table := conformance.Table("usage")
		conformance.Prepare(t, db.db(), 3, table)
		for range 2 {
			var b series.Batch
			conformance.Fill(b.Add(table), 5, 0, 3)
			conformance.Write(t, db.db(), &b)
		}
		if err := db.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if census, err := db.Census(t.Context(), table); err != nil || census.Rows != want {
			t.Errorf("dedup=%s: %d rows, want %d; %v", dedup, census.Rows, want, err)
		}
	}
}

// What tsmark did not create stays, with its rows, unless it was named.
func TestExistingTables(t *testing.T) {
	db := connect(t)
	run := session.New(db.db())
	table := conformance.Table("usage")
	conformance.Prepare(t, db.db(), 3, table)
	must := func(text string) {
		t.Helper()
		if err := db.own.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	named := func(s *series.Schema, want string) []string {
		t.Helper()
		found, err := run.Existing(t.Context(), s)
		if names := session.Names(found); err != nil || strings.Join(names, ", ") != want {
			t.Fatalf("existing: %v, %v, want %s", names, err, want)
		}
		return session.Names(found)
	}
	refused := func(err error, says string) {
		t.Helper()
		if stub.Says(t, err, says); !errors.Is(err, driver.ErrExisting) {
			t.Error(err)
		}
	}
	must("CREATE TABLE trades (price DOUBLE)")
	defer must("DROP TABLE IF EXISTS trades")
	must("CREATE VIEW seen AS SELECT * FROM trades")
	defer must("DROP VIEW IF EXISTS seen")
	clash := &series.Schema{Tables: []*series.Table{{Name: "Trades", Tags: table.Tags, Fields: table.Fields}}, Series: 3}
	refused(run.Prepare(t.Context(), clash, session.Mark{}), "table trades; drop it or give another server")
	named(clash, "table trades")

	// Made again under a name of tsmark's, a table is somebody's.
	own := &series.Schema{Tables: []*series.Table{table}, Series: 3}
	must("DROP TABLE cpu")
	must("CREATE TABLE cpu (salary DOUBLE)")
	refused(run.Prepare(t.Context(), own, session.Mark{}), "table cpu, which is not the one that tsmark made under that name; drop it or give another server")
	must("SELECT salary FROM cpu")

	// Without a mark, all data counts as a user's, and only the named objects are dropped.
	must("DROP TABLE " + sqlkit.NoteTable)
	_, err := run.Mark(t.Context())
	refused(err, "table cpu, view seen, table trades; give another server")
	agreed := named(own, "table cpu, view seen, table trades")
	must("CREATE TABLE later (price DOUBLE)")
	defer must("DROP TABLE IF EXISTS later")
	if err := run.Drop(t.Context(), own, agreed); err != nil {
		t.Fatal(err)
	}
	refused(run.Prepare(t.Context(), own, session.Mark{}), "table later; give another server")
	if err := run.Drop(t.Context(), own, named(own, "table later")); err != nil {
		t.Fatal(err)
	}
	if err := run.Prepare(t.Context(), own, session.Mark{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	if mark, err := run.Mark(t.Context()); err != nil || mark.Tool != "t" {
		t.Errorf("%+v, %v", mark, err)
	}
}

// A note takes the place of the one before.
func TestNote(t *testing.T) {
	db := connect(t)
	conformance.Prepare(t, db.db(), 3, conformance.Table("usage"))
	mark, err := db.Note(t.Context())
	if err == nil {
		err = db.own.Exec(t.Context(), "DROP TABLE tsmark_mark")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.SetNote(t.Context(), mark); err != nil {
			t.Error(err)
		}
	}()
	for _, text := range []string{"first", `it's "second"`, strings.Repeat("long ", 300)} {
		if err := db.SetNote(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		rows, err := db.own.Query(t.Context(), "SELECT content, count() FROM tsmark_mark")
		if err != nil || len(rows) != 1 || rows[0][0].String() != text || rows[0][1].Int != 1 {
			t.Errorf("%v, %v, want %s once", rows, err, text)
		}
		if note, err := db.Note(t.Context()); err != nil || note != text {
			t.Errorf("%s, %v, want %s", note, err, text)
		}
	}
}

// Tables without a write-ahead log take rows over TCP, in any order.
func TestWithoutWAL(t *testing.T) {
	db := connect(t, optionProtocol, protocolTCP, optionWAL, walOff, connection.Timeout, "20s")
	table := conformance.Table("usage")
	table.Name = "without_wal" // apart: QuestDB's TCP remembers tables of a name as they were
	conformance.Prepare(t, db.db(), 3, table)
	conformance.WriteAtOnce(t, db.db(), table, 3, 2, 3, 500)
	if err := db.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 3000 {
		t.Errorf("%+v, %v", census, err)
	}
}

// The server refuses a line: the error names it, and nothing is there.
func TestRefusedLine(t *testing.T) {
	db := connect(t)
	conformance.Prepare(t, db.db(), 3, conformance.Table("usage"))
	w := conformance.Writer(t, db.db()).(driver.LineWriter)
	defer conformance.Close(t, w)
	_, err := w.WriteLines(t.Context(), [][]byte{[]byte("cpu,hostname=a usage=1i 1000\ncpu,hostname=b us"), []byte("age=1.5 2000\n")}, 2)
	stub.Says(t, err, `line 2 of the batch, "cpu,hostname=b usage=1.5 2000": table: cpu, column: usage; cast error`)
	if census, err := db.Census(t.Context(), conformance.Table("usage")); err != nil || census.Rows != 0 {
		t.Errorf("%+v, %v", census, err)
	}
}

func TestDescribeAndFootprint(t *testing.T) {
	db := connect(t)
	conformance.Prepare(t, db.db(), 3, conformance.Table("usage"))
	d, err := db.Describe(t.Context())
	if err != nil || d.Version != "9.3.4" || d.Settings["cairo.commit.mode"] != "nosync" || d.Settings["metrics.enabled"] != "true" {
		t.Errorf("%+v, %v", d, err)
	}
	size, err := db.Footprint(t.Context())
	if err != nil || size.Bytes <= 0 {
		t.Error(size, err)
	}
	parts := int64(0)
	for _, p := range size.Parts {
		parts += p.Bytes
	}
	if len(size.Parts) != 0 && parts != size.Bytes { // an empty table has no partitions
		t.Errorf("%+v", size)
	}
	if plan, err := db.explain(t.Context(), driver.Request{Text: "SELECT count() FROM cpu"}); err != nil || plan == "" {
		t.Errorf("plan %q, %v", plan, err)
	}
}

// Over the PostgreSQL protocol a wrong password is said to be one.
func TestWrongPassword(t *testing.T) {
	db := connect(t, optionPGPassword, stub.Secret)
	_, err := db.NewQuerier(t.Context(), 0)
	stub.Says(t, err, "opening a connection to QuestDB for reading", "password")
}
