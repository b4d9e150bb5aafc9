package owndata_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// notes are texts that a format may take for its own.
var notes = []string{
	"plain", "", " blanks ", "it's", `say "hi"`, `ends in \`, `\n \" ""`, "two\nlines", "\r\n\ttab\n", "a,b;c=d|e", "Ωμέγα-服务器 😀", "NULL", "12", "2024-01-01",
	strings.Repeat("long, ", series.MaxFreeText/6), "\"", "'", "\n\n\"\n", "{}", "#",
}

// noteFiles are rows with each of some texts, and one without, in formats whose files
// people write themselves.
func noteFiles(t testing.TB, texts []string) map[string]string {
	t.Helper()
	var csvFile, jsonFile, points bytes.Buffer
	w := csv.NewWriter(&csvFile)
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	fail(w.Write([]string{"time", "host", "v", "note"}))
	for i, text := range texts {
		at := time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC)
		w.Flush()
		// The library's writer puts no quotes around an empty text.
		fmt.Fprintf(&csvFile, "%s,h,%d,\"%s\"\n", at.Format(time.RFC3339), i, strings.ReplaceAll(text, `"`, `""`))
		line, err := json.Marshal(map[string]any{"time": at, "host": "h", "v": i, "note": text})
		fail(err)
		jsonFile.Write(append(line, '\n'))
		fmt.Fprintf(&points, "t,host=h v=%di,note=\"%s\" %d\n", i, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text), at.UnixNano())
	}
	csvFile.WriteString("2024-01-01T01:00:00Z,h,7,\n")
	jsonFile.WriteString(`{"note":null,"v":7,"host":"h","time":"2024-01-01T01:00:00Z"}` + "\n")
	fmt.Fprintf(&points, "t,host=h v=7i %d\n", time.Date(2024, 1, 1, 1, 0, 0, 0, time.UTC).UnixNano())
	return map[string]string{"t.csv": csvFile.String(), "t.ndjson": jsonFile.String(), "t.lp": points.String()}
}

// noteSettings are what people say of such files.
func noteSettings(path string) []string {
	settings := []string{"files=" + path, "table=t", "fields=v:int, note:text"}
	if !strings.HasSuffix(path, ".lp") {
		settings = append(settings, "time=time", "tags=host")
	} else {
		settings[2], settings[1] = "tags=t(host)", "fields=t(v:int, note:text)"
	}
	return settings
}

// checkNotes compares a dataset with the texts; the last row has none.
func checkNotes(t testing.TB, d workload.Dataset, texts []string) {
	t.Helper()
	at := 0
	r := d.Open()
	for b := (series.Batch{}); r.Next(&b, 7) == nil; {
		for i := range b.Runs {
			run := &b.Runs[i]
			note := run.Table.FieldIndex("note")
			for row := range run.Times {
				switch null := run.Lacks(note, row); {
				case at > len(texts) || null != (at == len(texts)):
					t.Fatalf("row %d: NULL is %v", at, null)
				case !null && string(run.Columns[note].Text(row)) != texts[at]:
					t.Fatalf("row %d has %.60q, want %.60q", at, run.Columns[note].Text(row), texts[at])
				}
				at++
			}
		}
	}
	if at != len(texts)+1 {
		t.Fatalf("%d rows, want %d", at, len(texts)+1)
	}
}

// writeDataset writes a dataset in a format of generate's.
func writeDataset(t testing.TB, format, path string, d workload.Dataset) {
	t.Helper()
	of, err := generate.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	out, err := of.Create(path, d.Schema())
	if err == nil {
		err = out.Write(t.Context(), d.Open(), func(int) {})
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Texts of any content are read as they are from every format, and from what generate
// makes of them, with one digest.
func TestFreeTexts(t *testing.T) {
	digest := ""
	check := func(name string, settings ...string) workload.Dataset {
		t.Helper()
		d := openOwn(t, settings...)
		checkNotes(t, d, notes)
		field := d.Schema().Tables[0].Fields[d.Schema().Tables[0].FieldIndex("note")]
		if want := len(notes[14]); !field.Free() || field.Longest != want {
			t.Errorf("%s: the field is %+v, and its longest text has %d bytes", name, field, want)
		}
		found, err := generate.DigestOf(t.Context(), d, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if digest != "" && found != digest {
			t.Errorf("%s: the digest is %s, and was %s", name, found, digest)
		}
		digest = found
		return d
	}
	for name, text := range noteFiles(t, notes) {
		d := check(name, noteSettings(write(t, name, text))...)
		for _, format := range []string{"parquet", "arrow", "influx"} {
			path := filepath.Join(t.TempDir(), "made")
			if format == "influx" {
				path += ".lp"
			}
			writeDataset(t, format, path, d)
			settings := noteSettings(path)
			if format != "influx" {
				settings = append(settings, "time-format=timestamp")
			}
			check(name+" as "+format, settings...)
		}
	}
}

// The digest tells apart rows whose texts have the same lines in other orders.
func TestDigestOfLines(t *testing.T) {
	digests := map[string]bool{}
	for _, texts := range [][]string{{"a\nb", "c\nd"}, {"a\nd", "c\nb"}, {`a\nb`, "c\nd"}} {
		// The same time, so that lines of rows could change places.
		var file strings.Builder
		for _, text := range texts {
			line, _ := json.Marshal(map[string]any{"time": 1704067200, "note": text})
			fmt.Fprintf(&file, "%s\n", line)
		}
		d, err := generate.DigestOf(t.Context(), openOwn(t, "files="+write(t, "t.ndjson", file.String()), "time=time", "tags=", "fields=note:text", "table=t"), func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		digests[d] = true
	}
	if len(digests) != 3 {
		t.Errorf("%d digests of 3 contents", len(digests))
	}
}

// Where all texts are empty their bound is known, too.
func TestEmptyTexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.csv")
	if err := os.WriteFile(file, []byte("time,host,note\n2024-01-01 00:00:00,a,\"\"\n2024-01-01 00:00:01,b,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	field := openOwn(t, "files="+file, "tags=host", "fields=note:text").Schema().Tables[0].Fields[0]
	if !field.Free() || field.Room() != 1 {
		t.Errorf("%+v with room for %d bytes", field, field.Room())
	}
}

// FuzzFreeText holds every format to any text.
func FuzzFreeText(f *testing.F) {
	for i, text := range notes {
		f.Add(text, notes[(i+1)%len(notes)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a) > series.MaxFreeText || len(b) > series.MaxFreeText {
			t.Skip()
		}
		texts := []string{a, b, "last"}
		for name, content := range noteFiles(t, texts) {
			checkNotes(t, openOwn(t, noteSettings(write(t, name, content))...), texts)
		}
	})
}

// Prose becomes a field by itself, and names stay tags.
func TestProposedTexts(t *testing.T) {
	var file strings.Builder
	file.WriteString("time,city,comment,code,essay\n")
	for i := range 300 {
		fmt.Fprintf(&file, "%d,city %d,\"comment no. %d, of some\",%03d,%s\n", 1704067200+i, i%20, i, i%1000, strings.Repeat("x", 300+i%2))
	}
	found, err := inspect(t, "files="+write(t, "t.csv", file.String()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"tags": "city", "fields": "comment:text, code:text3, essay:text"} {
		if got := found.Spec.Settings["own."+name]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A column that no field can hold is skipped with a reason; if the settings name it, the error is
// one line.
func TestTextsRefused(t *testing.T) {
	long := strings.Repeat("x", series.MaxFreeText+1)
	text := "time,v,latin,vast\n1704067200,1,\xe9t\xe9 a," + long + "\n"
	for i := range 200 {
		text += fmt.Sprintf("%d,1,\xe9t\xe9 %d,%d%s\n", 1704067201+i, i, i, long)
	}
	path := write(t, "t.csv", text)
	found, err := inspect(t, "files="+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"column latin is left out: \"\\xe9t\\xe9 a\" in ", "column vast is left out: it has a text of 65539 bytes, and fields have at most 65535"} {
		if facts := strings.Join(found.Facts, "\n"); !strings.Contains(facts, want) {
			t.Errorf("no fact says %q: %s", want, facts)
		}
	}
	for column, want := range map[string]string{
		"latin": `t.csv:2: column latin: "\xe9t\xe9 a" is not valid UTF-8; give the encoding of the file (own.encoding, --encoding), such as windows-1252 or latin1, or leave the column out of fields`,
		"vast":  "t.csv:2: column vast: a text has 65536 bytes, and fields have at most 65535; leave the column out of fields",
	} {
		_, err := inspect(t, "files="+path, "time=time", "time-format=s", "table=t", "fields="+column+":text")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", column, err, want)
		}
	}
}

// A batch ends where its texts are many bytes, in every format, so that memory does not
// grow with the rows that one may have.
func TestBatchesOfLongTexts(t *testing.T) {
	slowtest.Skip(t)
	const rows = 1000
	var texts []string
	for i := range rows {
		texts = append(texts, fmt.Sprint(i, strings.Repeat(" text", 8000)))
	}
	files := noteFiles(t, texts)
	first := write(t, "t.ndjson", files["t.ndjson"])
	parquet := filepath.Join(t.TempDir(), "made")
	writeDataset(t, "parquet", parquet, openOwn(t, noteSettings(first)...))
	for name, settings := range map[string][]string{
		"ndjson": noteSettings(first), "csv": noteSettings(write(t, "t.csv", files["t.csv"])), "lines": noteSettings(write(t, "t.lp", files["t.lp"])),
		"parquet": append(noteSettings(parquet), "time-format=timestamp"),
	} {
		d := openOwn(t, settings...)
		seen, batches := 0, 0
		r := d.Open()
		for b := (series.Batch{}); r.Next(&b, 10*rows) == nil; batches++ {
			seen += b.Rows()
			for i := range b.Runs {
				if n := b.Runs[i].FreeBytes(); n > 9<<20 {
					t.Errorf("%s: a batch has %d bytes of texts", name, n)
				}
			}
		}
		if seen != rows+1 || batches < 4 {
			t.Errorf("%s: %d rows in %d batches", name, seen, batches)
		}
	}
}

// A column that is numbers in one file and texts in another is read as texts.
func TestNumbersAsTexts(t *testing.T) {
	dir := t.TempDir()
	lines, files := filepath.Join(dir, "lines"), []string{}
	if err := os.Mkdir(lines, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct{ name, line, fields string }{
		{"a", `{"time":1704067200,"note":12,"v":1}`, "note:int, v:int"}, {"b", `{"time":1704067201,"note":"twelve","v":1}`, "note:text, v:int"},
	} {
		path := filepath.Join(lines, file.name+".ndjson")
		if err := os.WriteFile(path, []byte(file.line+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, file.name))
		writeDataset(t, "parquet", files[len(files)-1], openOwn(t, "files="+path, "table=t", "fields="+file.fields))
	}
	for _, of := range []string{lines, strings.Join(files, ", ")} {
		wantStrings(t, read(t, openOwn(t, "files="+of, "table=t", "fields=note:text, v:int")),
			"t 2024-01-01T00:00:00Z note=12 v=1", "t 2024-01-01T00:00:01Z note=twelve v=1")
	}
}

// textFiles returns files in every format, whose rows have a text of some hundred bytes each, with
// the expected notes.
func textFiles(t testing.TB, rows int) map[string][]string {
	var texts []string
	for i := range rows {
		texts = append(texts, fmt.Sprintf(`note no. %d, "quoted" and \ so on: %s`, i, strings.Repeat("words ", i%50)))
	}
	settings := map[string][]string{}
	for name, content := range noteFiles(t, texts) {
		settings[strings.TrimPrefix(filepath.Ext(name), ".")] = noteSettings(write(t, name, content))
	}
	for _, format := range []string{"parquet", "arrow"} {
		path := filepath.Join(t.TempDir(), format)
		writeDataset(t, format, path, openOwn(t, settings["ndjson"]...))
		settings[format] = append(noteSettings(path), "time-format=timestamp")
	}
	return settings
}

// BenchmarkReadTexts is BenchmarkRead of rows with a number and a text.
func BenchmarkReadTexts(b *testing.B) {
	const rows = 50_000
	for name, settings := range textFiles(b, rows) {
		d := openOwn(b, settings...)
		b.Run(name, func(b *testing.B) {
			var batch series.Batch
			b.ReportAllocs()
			for range b.N {
				if n := pass(b, d, &batch); n != rows+1 {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// No text is worth an allocation.
func TestTextsAllocateNothing(t *testing.T) {
	slowtest.Skip(t)
	const rows = 20_000
	for name, settings := range textFiles(t, rows) {
		d := openOwn(t, settings...)
		var batch series.Batch
		pass(t, d, &batch)
		if n := testing.AllocsPerRun(2, func() { pass(t, d, &batch) }); n > rows/5 {
			t.Errorf("%s: %v allocations for %d rows", name, n, rows)
		}
	}
}
