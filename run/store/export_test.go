package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/result"
)

func exampleExport() Export {
	r := &result.Run{ID: "20260131-154500-3f2a", Name: "<a&b>", Started: time.Date(2026, 1, 31, 15, 45, 0, 1, time.UTC), Status: result.Complete,
		Targets: []result.Target{{Name: "duck", Driver: "duckdb", Options: map[string]string{"threads": ""}, Repeats: []result.Repeat{
			{Number: 1, Load: &result.Load{Rows: 5, Settled: 1.25}, Queries: []result.Queries{{Type: "lastpoint", Each: []float64{0.1, -60}}}}}}},
		Resources: []result.Resources{{Source: "host", Total: result.Usage{CPU: result.Absent()}}}}
	return Export{Run: r, Logs: []Log{{"duck.oplog", []byte("b")}, {"duck/a.oplog", []byte{0, 1, 255}}}}
}

func writeExports(t testing.TB, runs ...Export) []byte {
	t.Helper()
	var b bytes.Buffer
	for i := range runs {
		encodeDocument(t, &runs[i])
	}
	if err := WriteExports(context.Background(), &b, nil, runs); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// encodeDocument sets the document of an export that has none.
func encodeDocument(t testing.TB, e *Export) {
	t.Helper()
	if e.Document != nil {
		return
	}
	var err error
	if e.Document, err = result.Encode(e.Run); err != nil {
		t.Fatal(err)
	}
}

func compress(t testing.TB, text []byte) (zst, gz []byte) {
	t.Helper()
	var a, b bytes.Buffer
	z, err := zstd.NewWriter(&a)
	if err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&b)
	_, err1 := z.Write(text)
	_, err2 := g.Write(text)
	if err := errors.Join(err1, err2, z.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes()
}

// ReadExports reads the output of WriteExports, compressed or not.
func TestExportRoundTrip(t *testing.T) {
	want := exampleExport()
	plain := writeExports(t, want)
	zst, gz := compress(t, plain)
	for name, text := range map[string][]byte{"plain": plain, "zstd": zst, "gzip": gz} {
		got, err := ReadExports(t.Context(), bytes.NewReader(text), DefaultLimit)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d runs, %v", name, len(got), err)
		}
		if same, err := SameRun(got[0].Run, want.Run); err != nil || !same {
			t.Errorf("%s: another run came back: %+v (%v)", name, got[0].Run, err)
		}
		if !reflect.DeepEqual(got[0].Logs, want.Logs) {
			t.Errorf("%s: other logs came back: %v", name, got[0].Logs)
		}
	}
	if again := writeExports(t, want); !bytes.Equal(again, plain) {
		t.Error("the same run makes another file")
	}
	other := exampleExport()
	other.Run.Targets[0].Repeats[0].Queries[0].Each[1] = -61
	if same, err := SameRun(other.Run, want.Run); err != nil || same {
		t.Errorf("runs that differ are the same (%v)", err)
	}
}

// An export of a store contains its documents byte for byte, with the columns and the views of a
// results folder.
func TestExportIsADatabase(t *testing.T) {
	s := openTemp(t)
	run := newRun(t)
	save(t, s, run)
	run.Status = result.Complete
	must(t, s.Save(t.Context(), run))
	read, document, err := s.Document(t.Context(), run.ID)
	must(t, err)
	figures := func(*result.Run) Figures {
		return Figures{Queries: []QueryFigure{{Target: run.Targets[0].Name, Type: "lastpoint", Verdict: "verified"}}}
	}
	var b bytes.Buffer
	must(t, WriteExports(t.Context(), &b, figures, []Export{{Run: read, Document: document}}))
	file := filepath.Join(t.TempDir(), "x.tsmark")
	must(t, os.WriteFile(file, b.Bytes(), 0o666))
	db, err := sql.Open("sqlite", file)
	must(t, err)
	defer db.Close()
	var text, verdict, name string
	must(t, db.QueryRow("SELECT document FROM documents").Scan(&text))
	must(t, db.QueryRow("SELECT verdict, name FROM queries").Scan(&verdict, &name))
	if text != string(document) || verdict != "verified" || name != run.Name {
		t.Errorf("it has %q, %q and the document %s", verdict, name, text)
	}
}

// TestExportDamage changes bytes: the reader detects it, or the runs are unchanged.
func TestExportDamage(t *testing.T) {
	text := writeExports(t, exampleExport())
	pageSize := 4096
	check := func(damaged []byte, where string) {
		got, err := ReadExports(t.Context(), bytes.NewReader(damaged), DefaultLimit)
		if err == nil {
			if same, _ := SameRun(got[0].Run, exampleExport().Run); !same || !reflect.DeepEqual(got[0].Logs, exampleExport().Logs) {
				t.Errorf("%s: damaged unnoticed", where)
			}
			return
		}
		if !errors.Is(err, ErrNotExport) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", where, err)
		}
	}
	at := bytes.Index(text, []byte(`"format":`)) // in the document
	for i := range text {
		if i < 120 || i%pageSize < 12 || i%211 == 0 || at <= i && i < at+40 {
			damaged := bytes.Clone(text)
			damaged[i] ^= 1
			check(damaged, fmt.Sprintf("byte %d", i))
		}
	}
	for n := 0; n < len(text); n += 1 + n/3 {
		if _, err := ReadExports(t.Context(), bytes.NewReader(text[:n]), DefaultLimit); !errors.Is(err, ErrNotExport) {
			t.Errorf("cut off after %d bytes: %v", n, err)
		}
	}
	zst, gz := compress(t, text)
	for _, packed := range [][]byte{zst, gz} {
		for _, n := range []int{3, 5, len(packed) / 2, len(packed) - 1} {
			if _, err := ReadExports(t.Context(), bytes.NewReader(packed[:n]), DefaultLimit); !errors.Is(err, ErrNotExport) || strings.Contains(err.Error(), "\n") {
				t.Errorf("compressed and cut off after %d bytes: %v", n, err)
			}
		}
	}
}

// alter executes statements in an export.
func alter(t *testing.T, export []byte, statements string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.tsmark")
	must(t, os.WriteFile(file, export, 0o666))
	db, err := sql.Open("sqlite", file)
	must(t, err)
	_, err = db.Exec(statements)
	must(t, err)
	must(t, db.Close())
	text, err := os.ReadFile(file)
	must(t, err)
	return text
}

// An export may come from anyone.
func TestHostileExports(t *testing.T) {
	refused := func(t *testing.T, text []byte, want string) {
		t.Helper()
		_, err := ReadExports(t.Context(), bytes.NewReader(text), DefaultLimit)
		if !errors.Is(err, ErrNotExport) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	for name, change := range map[string]func(e *Export){
		"a run in a folder": func(e *Export) { e.Run.ID = "../../20260131-154500-3f2a" },
		"no id":             func(e *Export) { e.Run.ID = "" },
		"a log above":       func(e *Export) { e.Logs[0].Name = "../x.oplog" },
		"a log elsewhere":   func(e *Export) { e.Logs[0].Name = "/etc/x.oplog" },
		"a log within":      func(e *Export) { e.Logs[0].Name = "a/../../x.oplog" },
		"a Windows path":    func(e *Export) { e.Logs[0].Name = `..\x.oplog` },
		"a drive":           func(e *Export) { e.Logs[0].Name = `C:x.oplog` },
		"another file":      func(e *Export) { e.Logs[0].Name = "report.html" },
		"a target twice":    func(e *Export) { e.Run.Targets = append(e.Run.Targets, e.Run.Targets[0]) },
		"a repeat twice":    func(e *Export) { r := &e.Run.Targets[0].Repeats; *r = append(*r, (*r)[0]) },
		"repeat 0":          func(e *Export) { e.Run.Targets[0].Repeats[0].Number = 0 },
		"a damaged histogram": func(e *Export) {
			q := &e.Run.Targets[0].Repeats[0].Queries[0]
			q.Service.Count, q.Service.Histogram = 1, "not one"
			e.Run.Targets[0].Repeats = append(e.Run.Targets[0].Repeats, result.Repeat{Number: 2, Queries: []result.Queries{*q}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := exampleExport()
			change(&e)
			refused(t, writeExports(t, e), "")
		})
	}
	const other = "its tables are not those of an export"
	for name, c := range map[string]struct{ statements, want string }{
		"no run":              {"DELETE FROM documents; DELETE FROM logs", "it holds none"},
		"another id":          {"UPDATE documents SET id = '20260131-154500-3f2b'", ""},
		"no document":         {"UPDATE documents SET document = x'00'", ""},
		"a changed document":  {`UPDATE documents SET document = replace(document, '"duck"', '"dock"')`, "SHA-256"},
		"a changed log":       {"UPDATE logs SET data = 'x'", "SHA-256"},
		"unknown fields":      {`UPDATE documents SET document = replace(document, '"name"', '"nome"')`, "import it with the version that wrote it, or a newer one"},
		"a newer document":    {`UPDATE documents SET document = replace(document, '"format":1', '"format":9')`, "import it with the version that wrote it, or a newer one"},
		"a newer schema":      {"PRAGMA user_version = 9", "it was written by a newer tsmark (schema 9, this one knows 1)"},
		"other data":          {"PRAGMA application_id = 0", "it is an SQLite file that tsmark export did not write"},
		"a journal":           {"PRAGMA journal_mode = WAL", "its header is damaged"},
		"an endless view":     {"ALTER TABLE documents RENAME TO d; CREATE VIEW documents AS WITH RECURSIVE r AS (SELECT id, document FROM d UNION ALL SELECT id, document FROM r) SELECT * FROM r", other},
		"a trigger":           {"CREATE TRIGGER t AFTER INSERT ON documents BEGIN SELECT 1; END", other},
		"a computed column":   {"DROP TABLE logs; CREATE TABLE logs (run TEXT, name TEXT, data BLOB AS (zeroblob(1000000000)))", other},
		"an expensive index":  {"CREATE INDEX i ON documents (hex(document))", other},
		"a table of its own":  {"CREATE TABLE more (a)", other},
		"a full-text search":  {"CREATE VIRTUAL TABLE more USING fts5(a)", other},
		"without its logs":    {"DROP TABLE logs", other},
		"a column more":       {"ALTER TABLE documents ADD COLUMN more TEXT", other},
		"statistics":          {"ANALYZE", other},
		"a large page number": {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'documents'", "it is damaged"},
		"a shared page":       {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'logs') WHERE name = 'documents'", "it is damaged"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, alter(t, writeExports(t, exampleExport()), c.statements), c.want) })
	}
	for name, text := range map[string]string{"empty": "", "text": "not a database", "JSON": `{"format":"tsmark runs"}`} {
		t.Run(name, func(t *testing.T) {
			refused(t, []byte(text), "it was not written by tsmark export; give a file that was")
		})
	}
}

// A small file may decompress to any size, and a short text may need any amount of memory: reading
// ends at the limit, with an error of one line that says so.
func TestExportBomb(t *testing.T) {
	const limit = 8 << 20
	head := writeExports(t, exampleExport())
	targets := exampleExport()
	targets.Document = []byte(`{"format":1,"targets":[` + strings.Repeat("{},", 1<<20) + `{}]}`)
	numbers := exampleExport()
	numbers.Document = []byte(`{"format":1,"targets":[{"repeats":[{"queries":[{"each":[` + strings.Repeat("1,", 1<<20) + `1]}]}]}]}`)
	zeros := func(w io.Writer) error {
		_, err := w.Write(head)
		for n := 0; n < 8*limit && err == nil; n += 1 << 20 {
			_, err = w.Write(make([]byte, 1<<20))
		}
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"zeros":   zeros,
		"targets": func(w io.Writer) error { return WriteExports(t.Context(), w, nil, []Export{targets}) },
		"numbers": func(w io.Writer) error { return WriteExports(t.Context(), w, nil, []Export{numbers}) },
	} {
		var b bytes.Buffer
		must(t, write(&b))
		zst, gz := compress(t, b.Bytes())
		for _, packed := range [][]byte{gz, zst} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ReadExports(t.Context(), bytes.NewReader(packed), limit)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrNotExport) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "more than may be read, 8.0 MiB; if you trust it, allow more with --max-size") {
				t.Errorf("%s: %v", name, err)
			}
			// This is the total of all allocations, which exceeds the memory held at once.
			if used := after.TotalAlloc - before.TotalAlloc; used > 10*limit {
				t.Errorf("%s: %d bytes of %d were made %d MiB of memory", name, len(packed), limit, used>>20)
			}
		}
	}
}

// ReadLogs reads the operation logs below a run's folder, and nothing else.
func TestReadLogs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report.html", "running", "operations.tsmlog", "duck/tsmark.duckdb", "duck/1.oplog", "large.oplog", ".x.oplog"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(name), 0o666)))
	}
	must(t, os.Truncate(filepath.Join(dir, "large.oplog"), maxLog+1))
	logs, tooLarge, err := ReadLogs(dir)
	must(t, err)
	var names []string
	for _, l := range logs {
		names = append(names, l.Name)
		if string(l.Data) != l.Name {
			t.Errorf("%s holds %q", l.Name, l.Data)
		}
	}
	if got := strings.Join(names, " "); got != "duck/1.oplog operations.tsmlog" || len(tooLarge) != 1 {
		t.Errorf("it reads %s, omits %v", got, tooLarge)
	}
	if logs, _, err := ReadLogs(filepath.Join(dir, "none")); err != nil || logs != nil {
		t.Errorf("no folder: %v, %v", logs, err)
	}
}

// FuzzReadExports: for any file, there is an error of one line or runs that can be written.
func FuzzReadExports(f *testing.F) {
	f.Add(writeExports(f, exampleExport()))
	f.Add([]byte("SQLite format 3\x00"))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0})
	f.Add([]byte{0x1f, 0x8b, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		runs, err := ReadExports(t.Context(), bytes.NewReader(text), DefaultLimit)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("several lines: %q", err)
			}
			return
		}
		if err := WriteExports(t.Context(), io.Discard, nil, runs); err != nil {
			t.Errorf("read, and cannot be written: %v", err)
		}
	})
}
