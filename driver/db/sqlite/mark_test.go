package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// file makes a database without tsmark's doing: by statements, in the default
// file of a folder. It returns the path.
func file(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tsmark.sqlite")
	db := open(t, filepath.Dir(path), "journal_mode", "delete")
	for _, s := range statements {
		conformance.Query(t, db, s)
	}
	conformance.Close(t, db)
	return path
}

// A file that tsmark did not make is refused, and stays as it is to the last
// byte, with nothing beside it.
func TestExistingFilesAreLeftAlone(t *testing.T) {
	const answer = "CREATE TABLE cpu AS SELECT 42 AS answer"
	files := map[string]string{
		"table":           file(t, answer),
		"view":            file(t, "CREATE VIEW cpu AS SELECT 42 AS answer"),
		"name of a mark":  file(t, "CREATE TABLE tsmark_mark AS SELECT 42 AS answer", answer),
		"in capitals":     file(t, "CREATE TABLE TSMARK_MARK AS SELECT '{}' AS content", answer),
		"not JSON":        file(t, "CREATE TABLE tsmark_mark AS SELECT 'x' AS content", answer),
		"no mark in it":   file(t, "CREATE TABLE tsmark_mark (content)", answer),
		"two marks in it": file(t, "CREATE TABLE tsmark_mark AS SELECT '{}' AS content UNION ALL SELECT '{}'", answer),
	}
	noDatabase := filepath.Join(t.TempDir(), "tsmark.sqlite")
	if err := os.WriteFile(noDatabase, bytes.Repeat([]byte("no database "), 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	files["no SQLite file"] = noDatabase
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, create := range []bool{false, true} {
				db, err := openIn(t, driver.Env{Dir: filepath.Dir(path), Create: create})
				if err == nil {
					err = session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 1}, session.Mark{})
					conformance.Close(t, db)
				}
				if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "give another path") {
					t.Error(err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the file was changed: %v", err)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("the folder holds %v, %v", entries, err)
			}
		})
	}
}

// Preparing again drops what tsmark made and nothing else, and refuses names
// that others bear, in any case.
func TestReplaceDropsOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	for _, statement := range []string{
		"CREATE TABLE Mine (answer)",
		"INSERT INTO mine VALUES (42)",
		"CREATE INDEX cpu_by_answer ON mine (answer)",
		"CREATE INDEX theirs ON cpu (a)",
		"CREATE VIEW Seen AS SELECT answer FROM mine",
	} {
		conformance.Query(t, db, statement)
	}
	conformance.Close(t, db)

	db = open(t, dir)
	other := conformance.Table("a")
	other.Name = "Other"
	conformance.Prepare(t, db, 10, other)
	names := "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY lower(name))"
	const after = "cpu_by_answer Mine Other Seen tags tags_by_hostname tsmark_mark"
	conformance.CheckRows(t, conformance.Query(t, db, names), conformance.Row(after))
	for _, name := range []string{"mine", "MINE", "seen", "CPU_by_answer"} {
		taken := conformance.Table("a")
		taken.Name = name
		err := session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{taken}, Series: 10}, session.Mark{})
		if !errors.Is(err, driver.ErrExisting) || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(name)) {
			t.Errorf("a table %s: %v", name, err)
		}
	}
	conformance.CheckRows(t, conformance.Query(t, db, names), conformance.Row(after))
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT answer FROM seen"), conformance.Row(42))
	if m, err := session.New(db).Mark(t.Context()); err != nil || m.Tool != "test" {
		t.Errorf("after a refusal: %+v, %v", m, err)
	}
}

func TestNamesThatClash(t *testing.T) {
	for name, tables := range map[string][]string{
		"in other case":         {"cpu", "CPU"},
		"with the mark":         {"Tsmark_Mark"},
		"with the tags":         {"Tags"},
		"of a table and others": {"cpu", "cpu_TAGS", "x"},
	} {
		var s series.Schema
		for _, n := range tables {
			table := conformance.Table("a")
			table.Name = n
			s.Tables = append(s.Tables, table)
		}
		if len(tables) == 3 {
			s.Tables[0], s.Tables[2] = s.Tables[2], s.Tables[0] // so that cpu's tags are cpu_tags
		}
		db := open(t, "")
		if err := session.New(db).Prepare(t.Context(), &s, session.Mark{}); err == nil || !strings.Contains(err.Error(), "rename a table") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := session.New(db).Mark(t.Context()); !errors.Is(err, session.ErrNoMark) {
			t.Errorf("%s: something was made: %v", name, err)
		}
	}
}

// An interrupt while the mark is read does not make the file another's.
func TestInterruptedMark(t *testing.T) {
	db := open(t, "")
	if err := session.New(db).SetMark(t.Context(), session.Mark{}); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("marking an empty database: %v", err)
	}
	conformance.Prepare(t, db, 1, conformance.Table("a"))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"reading":   errorOf(session.New(db).Mark(cancelled)),
		"writing":   session.New(db).SetMark(cancelled, session.Mark{Tool: "other"}),
		"preparing": session.New(db).Prepare(cancelled, &series.Schema{}, session.Mark{}),
	} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, driver.ErrExisting) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m, err := session.New(db).Mark(t.Context()); err != nil || m.Tool != "test" {
		t.Errorf("%+v, %v", m, err)
	}
}

func errorOf(_ session.Mark, err error) error { return err }

// The mark of a tsmark that was killed in the making has names alone, and they tell.
func TestMarkWithoutIdentities(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	for _, statement := range []string{"DROP TABLE cpu", "CREATE TABLE cpu (salary)", "UPDATE tsmark_mark SET content = json_remove(content, '$.identities')"} {
		conformance.Query(t, db, statement)
	}
	conformance.Prepare(t, db, 10, table)
	conformance.Query(t, db, "DROP TABLE cpu")
	conformance.Query(t, db, "CREATE TABLE cpu (salary)")
	if err := session.New(db).Prepare(t.Context(), &series.Schema{Tables: []*series.Table{table}, Series: 10}, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("the newer mark: %v", err)
	}
}
