package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// TestOptionsReachEveryConnection checks that an option applies to every connection, and that Describe
// reports its effect.
func TestOptionsReachEveryConnection(t *testing.T) {
	for _, test := range []struct {
		journal, synchronous, durability string
	}{
		{"wal", "full", "write-ahead log, and forced to disk by fsync"},
		{"wal", "extra", "write-ahead log, and forced to disk by fsync"},
		{"wal", "normal", "a crash of the machine loses the last batches"},
		{"wal", "off", "may destroy the database"},
		{"delete", "full", "in the database file, and forced to disk by fsync"},
		{"truncate", "normal", "in the database file, and forced to disk by fsync"},
		{"persist", "extra", "in the database file, and forced to disk by fsync"},
		{"memory", "full", "what undoes it is only in memory"},
		{"memory", "off", "left to the operating system"},
	} {
		t.Run(test.journal+" "+test.synchronous, func(t *testing.T) {
			db := open(t, "", "journal_mode", test.journal, "synchronous", test.synchronous, "cache_size", "+7")
			conformance.Prepare(t, db, 1, conformance.Table("a")) // only then is the file's journal chosen
			d, err := db.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d.Settings["journal_mode"] != test.journal || d.Settings["synchronous"] != test.synchronous || d.Settings["cache_size"] != "-7168" {
				t.Errorf("settings %v", d.Settings)
			}
			if !strings.Contains(d.Durability, test.durability) || !strings.HasPrefix(d.Version, "3.") {
				t.Errorf("%+v", d)
			}
			conformance.CheckRows(t, conformance.Query(t, db, "PRAGMA journal_mode"), conformance.Row(test.journal))
			conformance.CheckRows(t, conformance.Query(t, db, "PRAGMA cache_size"), conformance.Row(-7168))
		})
	}
}

func TestOptionErrors(t *testing.T) {
	d := sqlite.Driver()
	for option, value := range map[string]string{
		"synchronous": "fast", "journal_mode": "off", "index": "btree", "path": ":memory:",
	} {
		if _, err := d.Resolve(map[string]string{option: value}); err == nil || !strings.Contains(err.Error(), "must be") {
			t.Errorf("%s=%s: %v", option, value, err)
		}
	}
	for _, size := range []string{"0", "-1", "2097152", "1.5", "much"} {
		if _, err := d.Resolve(map[string]string{"cache_size": size}); err == nil {
			t.Errorf("cache_size=%s was accepted", size)
		}
	}
}

// TestExistingKeepsItsJournal checks that a file which is only queried keeps the journal mode of its
// load.
func TestExistingKeepsItsJournal(t *testing.T) {
	for loaded, other := range map[string]string{"wal": "delete", "delete": "wal"} {
		dir := t.TempDir()
		db := open(t, dir, "journal_mode", loaded)
		conformance.Prepare(t, db, 1, conformance.Table("a"))
		conformance.Close(t, db)

		db, err := openIn(t, driver.Env{Dir: dir}, "journal_mode", other)
		if err != nil {
			t.Fatal(err)
		}
		conformance.CheckRows(t, conformance.Query(t, db, "PRAGMA journal_mode"), conformance.Row(loaded))
		conformance.Close(t, db)
	}
}

// Each index is there, and is what SQLite finds rows by.
func TestIndexes(t *testing.T) {
	const ofTags = "tags_by_hostname"
	for _, test := range []struct {
		index, names string
		ofSeries     string // how the rows of a series are found
		ofTime       string // how all rows of a time are found
	}{
		{"clustered", ofTags, "PRIMARY KEY (tags_id=? AND time>?)", "SCAN cpu"},
		{"tags_time", "cpu_by_tags_id_time " + ofTags, "cpu_by_tags_id_time (tags_id=? AND time>?)", "SCAN cpu"},
		{"time", "cpu_by_time " + ofTags, "cpu_by_time (time>?)", "cpu_by_time (time>?)"},
		{"both", "cpu_by_tags_id_time cpu_by_time " + ofTags, "cpu_by_tags_id_time (tags_id=? AND time>?)", "cpu_by_time (time>?)"},
		{"none", "", "SCAN cpu", "SCAN cpu"},
	} {
		t.Run(test.index, func(t *testing.T) {
			db := open(t, "", "index", test.index)
			table := conformance.Table("a")
			conformance.Prepare(t, db, 10, table)
			rows := conformance.Query(t, db, "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1")
			var names []string
			for _, row := range rows {
				names = append(names, row[0].String())
			}
			if got := strings.Join(names, " "); got != test.names {
				t.Errorf("indexes %q, want %q", got, test.names)
			}
			for statement, want := range map[string]string{
				"SELECT a FROM cpu WHERE tags_id = 3 AND time > 5": test.ofSeries,
				"SELECT a FROM cpu WHERE time > 5":                 test.ofTime,
			} {
				plan := conformance.Query(t, db, "EXPLAIN QUERY PLAN "+statement)
				if got := plan[0][3].String(); !strings.Contains(got, want) {
					t.Errorf("%s: %s, want %s", statement, got, want)
				}
			}
			clustersDuplicates(t, db, table)
		})
	}
}

// clustersDuplicates: rows of one series at one time are all kept, in the
// order of their arrival.
func clustersDuplicates(t *testing.T, db driver.DB, table *series.Table) {
	t.Helper()
	var b series.Batch
	run := b.Add(table)
	run.Grow(200) // more than a statement has
	for r := range run.Times {
		run.Series[r], run.Times[r], run.Columns[0].Ints[r] = 3, 77, int64(r)
	}
	conformance.Write(t, db, &b)
	conformance.Write(t, db, &b)
	rows := conformance.Query(t, db, "SELECT a FROM cpu")
	if len(rows) != 400 {
		t.Fatalf("%d rows of 400", len(rows))
	}
	for i, row := range rows {
		if row[0].Int != int64(i%200) {
			t.Fatalf("row %d holds %v", i, row[0])
		}
	}
}

// SQLite takes 2000 columns and 32766 variables; a table of as many is
// written, one of more is refused before anything is made.
func TestWideTables(t *testing.T) {
	wide := &series.Table{Name: "wide", Tags: conformance.Table().Tags}
	const most = 2000 - 3 // time, tags_id, tsmark_row
	for i := range most {
		wide.Fields = append(wide.Fields, series.Field{Name: fmt.Sprint("f", i), Type: series.Int})
	}
	db := open(t, "", "synchronous", "off")
	conformance.Prepare(t, db, 3, wide)
	var b series.Batch
	conformance.Fill(b.Add(wide), 50, 0, 3)
	conformance.Write(t, db, &b)
	census, err := db.Census(t.Context(), wide)
	if err != nil || census.Rows != 50 || len(census.Fields) != most || census.Fields[most-1].Count != 50 {
		t.Errorf("%d rows, %v", census.Rows, err)
	}

	wide.Fields = append(wide.Fields, series.Field{Name: "more", Type: series.Int})
	other := open(t, "")
	err = session.New(other).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{wide}, Series: 3}, session.Mark{})
	if err == nil || !strings.Contains(err.Error(), "2000 columns") {
		t.Errorf("a table of 2001 columns: %v", err)
	}
}
