package archive

import (
	"bytes"
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

func entry() Entry {
	r := &result.Run{ID: "20260131-154500-3f2a", Name: "<a&b>", Started: time.Date(2026, 1, 31, 15, 45, 0, 1, time.UTC), Status: result.Complete,
		Targets: []result.Target{{Name: "duck", Kind: "duckdb", Options: map[string]string{"threads": ""}, Repeats: []result.Repeat{
			{Number: 1, Load: &result.Load{Rows: 5, Settled: 1.25}, Queries: []result.Queries{{Type: "lastpoint", Each: []float64{0.1, -60}}}}}}},
		Resources: []result.Resources{{Source: "host", Total: result.Usage{CPU: result.Absent()}}}}
	return Entry{Run: r, Files: []File{{"report.html", []byte("<html>")}, {"duck/a.oplog", []byte{0, 1, 255}}}}
}

func written(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, result.Tool{Version: "1"}, entries); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unwrapped is the content of an archive.
func unwrapped(text []byte) []byte {
	_, content, _ := bytes.Cut(text, []byte(`"content":`))
	return content[:len(content)-2]
}

// What was written is read, however it is compressed.
func TestRoundTrip(t *testing.T) {
	want := entry()
	plain := written(t, want)
	var zst, gz bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&gz)
	_, err1 := z.Write(plain)
	_, err2 := g.Write(plain)
	if err := errors.Join(err1, err2, z.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"plain": plain, "zstd": zst.Bytes(), "gzip": gz.Bytes()} {
		got, err := Read(bytes.NewReader(text), DefaultLimit)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d runs, %v", name, len(got), err)
		}
		if same, err := Same(got[0].Run, want.Run); err != nil || !same {
			t.Errorf("%s: another run came back: %+v (%v)", name, got[0].Run, err)
		}
		if !reflect.DeepEqual(got[0].Files, want.Files) {
			t.Errorf("%s: other files came back: %v", name, got[0].Files)
		}
	}
	other := entry()
	other.Run.Targets[0].Repeats[0].Queries[0].Each[1] = -61
	if same, err := Same(other.Run, want.Run); err != nil || same {
		t.Errorf("runs that differ are the same (%v)", err)
	}
}

// TestDamage changes each byte: the reader notices, or nothing changed in what
// it means.
func TestDamage(t *testing.T) {
	text := written(t, entry())
	for i := range text {
		damaged := bytes.Clone(text)
		damaged[i] ^= 1
		got, err := Read(bytes.NewReader(damaged), DefaultLimit)
		if err == nil {
			if same, _ := Same(got[0].Run, entry().Run); !same {
				t.Errorf("byte %d, %q, was damaged unnoticed", i, text[max(0, i-5):i+5])
			}
			continue
		}
		if !errors.Is(err, ErrBad) || strings.Contains(err.Error(), "\n") {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	for n := range len(text) - 2 {
		if _, err := Read(bytes.NewReader(text[:n]), DefaultLimit); !errors.Is(err, ErrBad) {
			t.Errorf("cut off after %d bytes: %v", n, err)
		}
	}
}

// An archive may come from anybody.
func TestHostile(t *testing.T) {
	for name, change := range map[string]func(e *Entry){
		"no run":            func(e *Entry) { e.Run = nil },
		"a run in a folder": func(e *Entry) { e.Run.ID = "../../20260131-154500-3f2a" },
		"no id":             func(e *Entry) { e.Run.ID = "" },
		"a file above":      func(e *Entry) { e.Files[0].Name = "../tsmark.db" },
		"a file elsewhere":  func(e *Entry) { e.Files[0].Name = "/etc/passwd" },
		"a file within":     func(e *Entry) { e.Files[0].Name = "a/../../x" },
		"a Windows path":    func(e *Entry) { e.Files[0].Name = `..\x` },
		"a drive":           func(e *Entry) { e.Files[0].Name = `C:x` },
		"the folder":        func(e *Entry) { e.Files[0].Name = "." },
		"a file twice":      func(e *Entry) { e.Files[0].Name = e.Files[1].Name },
		"a target twice":    func(e *Entry) { e.Run.Targets = append(e.Run.Targets, e.Run.Targets[0]) },
		"a repeat twice":    func(e *Entry) { r := &e.Run.Targets[0].Repeats; *r = append(*r, (*r)[0]) },
		"repeat 0":          func(e *Entry) { e.Run.Targets[0].Repeats[0].Number = 0 },
		"a damaged histogram": func(e *Entry) {
			q := &e.Run.Targets[0].Repeats[0].Queries[0]
			q.Service.Count, q.Service.Histogram = 1, "not one"
			e.Run.Targets[0].Repeats = append(e.Run.Targets[0].Repeats, result.Repeat{Number: 2, Queries: []result.Queries{*q}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry()
			change(&e)
			text := []byte(`{"runs":[{"run":null}]}`)
			if e.Run != nil {
				text = unwrapped(written(t, e))
			}
			if _, _, err := decode(bytes.NewReader(text)); err == nil {
				t.Error("it was taken")
			}
		})
	}
	if _, err := Read(bytes.NewReader(written(t, entry(), entry())), DefaultLimit); !errors.Is(err, ErrBad) {
		t.Errorf("a run twice: %v", err)
	}
	if _, err := Read(bytes.NewReader(written(t)), DefaultLimit); !errors.Is(err, ErrBad) {
		t.Errorf("no run: %v", err)
	}
}

// A small file may stand for any amount of text, and a short text for any
// amount of memory: reading ends at the limit, in one line that says so.
func TestBomb(t *testing.T) {
	const limit = 8 << 20
	head := `{"format":"tsmark runs","version":1,"sha256":"` + strings.Repeat("0", 64) + `","content":`
	for name, bomb := range map[string]struct{ begin, again string }{
		"spaces":    {head, " "},
		"a string":  {head + `{"tool":"`, "0"},
		"a file":    {head + `{"runs":[{"files":[{"name":"x","data":"`, "AAAA"},
		"runs":      {head + `{"runs":[`, `{},`},
		"files":     {head + `{"runs":[{"files":[`, `{},`},
		"targets":   {head + `{"runs":[{"run":{"targets":[`, `{},`},
		"queries":   {head + `{"runs":[{"run":{"targets":[{"repeats":[{"queries":[`, `{},`},
		"times":     {head + `{"runs":[{"run":{"targets":[{"repeats":[{"queries":[{"each":[`, `1,`},
		"depth":     {head + `{"runs":`, `[`},
		"not by us": {"", "0"},
	} {
		var gz, zst bytes.Buffer
		g := gzip.NewWriter(&gz)
		z, err := zstd.NewWriter(&zst)
		if err != nil {
			t.Fatal(err)
		}
		again := strings.Repeat(bomb.again, 1<<20)
		for _, w := range []io.WriteCloser{g, z} {
			_, err := io.WriteString(w, bomb.begin)
			for n := 0; n < 8*limit && err == nil; n += len(again) {
				_, err = io.WriteString(w, again)
			}
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for _, packed := range [][]byte{gz.Bytes(), zst.Bytes()} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(bytes.NewReader(packed), limit)
			runtime.ReadMemStats(&after)
			large := strings.Contains(fmt.Sprint(err), "more than may be read, 8.0 MiB; if you trust it, allow more with --max-size")
			if !errors.Is(err, ErrBad) || large != (name != "not by us") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
			// All that was ever allocated, which is more than was held at once.
			if used := after.TotalAlloc - before.TotalAlloc; used > 10*limit {
				t.Errorf("%s: %d bytes of %d were made %d MiB of memory", name, len(packed), limit, used>>20)
			}
		}
	}
}

// Databases stay, operation logs within their folders do not.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report.html", "running", "operations.tsmlog", "duck/tsmark.duckdb", "duck/1.oplog", "logs/a.txt", ".x.tmp"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "logs", "a.txt"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	files, left, err := Collect(dir, entry().Run)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if string(f.Data) != f.Name {
			t.Errorf("%s holds %q", f.Name, f.Data)
		}
	}
	if got := strings.Join(names, " "); got != "duck/1.oplog operations.tsmlog report.html" || len(left) != 1 {
		t.Errorf("carries %s, leaves %v", got, left)
	}
	if files, _, err := Collect(filepath.Join(dir, "none"), entry().Run); err != nil || files != nil {
		t.Errorf("no folder: %v, %v", files, err)
	}
}

// FuzzRead: whatever the file holds, there is an error on one line or runs
// that could be written.
func FuzzRead(f *testing.F) {
	f.Add(written(f, entry()))
	f.Add([]byte(`{"format":"tsmark runs","version":2}`))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0})
	f.Add([]byte{0x1f, 0x8b, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := Read(bytes.NewReader(text), DefaultLimit)
		proper(t, entries, err)
	})
}

// FuzzDecode is FuzzRead behind the checksum.
func FuzzDecode(f *testing.F) {
	f.Add(unwrapped(written(f, entry())))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, _, err := decode(&limited{from: bytes.NewReader(text), text: DefaultLimit, memory: DefaultLimit})
		proper(t, entries, err)
	})
}

func proper(t *testing.T, entries []Entry, err error) {
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("several lines: %q", err)
		}
		return
	}
	if err := Write(&bytes.Buffer{}, result.Tool{}, entries); err != nil {
		t.Errorf("read, and cannot be written: %v", err)
	}
}
