package owndata_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/workload"
)

// writeTags writes a row a value of the tag path to a file and opens it.
func writeTags(t *testing.T, table, field string, values ...string) workload.Dataset {
	t.Helper()
	var file bytes.Buffer
	for i, v := range values {
		line, err := json.Marshal(map[string]any{"time": fmt.Sprintf("2024-01-01T00:%02d:%02dZ", i/60, i%60), "path": v, field: float64(i) + 0.5})
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	name := filepath.Join(t.TempDir(), "t.ndjson")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return openOwn(t, "files="+name, "table="+table, "tags=path")
}

// Tags of any content are read from what generate writes as they were, or refused with
// their name, value and format before anything is written.
func TestOddTags(t *testing.T) {
	slowtest.Skip(t)
	random := rand.New(rand.NewPCG(8, 38))
	parts := []string{",", " ", "=", `\`, `"`, "'", "#", "\t", "\n", "ü😀", "a", "b", "time", "{", "\r"}
	written := 0
	for range 60 {
		var value strings.Builder
		for range 1 + random.IntN(5) {
			value.WriteString(parts[random.IntN(len(parts))])
		}
		d := writeTags(t, "t=x, y", "k "+value.String()+`="`, value.String(), "plain")
		want := read(t, d)
		for _, format := range []string{"influx", "questdb", "victoriametrics"} {
			of, err := generate.Find(format)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "out.lp")
			if _, err := of.Create(path, d.Schema()); err != nil {
				if _, exists := os.Stat(path); exists == nil || !strings.Contains(err.Error(), format) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%q: %v", value.String(), err)
				}
				continue
			}
			writeDataset(t, format, path, d)
			written++
			if got := read(t, openOwn(t, "files="+path)); !slices.Equal(got, want) {
				t.Errorf("%s: %q is read as\n%q, want\n%q", format, value.String(), got, want)
			}
		}
	}
	if written < 30 {
		t.Errorf("%d files were written", written)
	}
}

// Formats that escape nothing refuse tags that they cannot hold, and CrateDB's JSON escapes.
func TestRefusedTags(t *testing.T) {
	for _, c := range []struct{ value, refused string }{
		{"New York", ""},
		{"hall 2, west", "timescaledb clickhouse timestream cassandra"},
		{"a=b", "timescaledb clickhouse timestream cassandra"},
		{"a#b", "cassandra"},
		{"a\nb", "influx questdb victoriametrics timescaledb clickhouse timestream cassandra"},
		{`C:\`, "influx questdb victoriametrics"},
	} {
		d := writeTags(t, "t", "v", c.value, "plain")
		var refused []string
		for _, of := range generate.Formats() {
			path := filepath.Join(t.TempDir(), "out")
			out, err := of.Create(path, d.Schema())
			if err == nil {
				out.Discard()
				continue
			}
			refused = append(refused, of.Name)
			if !strings.Contains(err.Error(), fmt.Sprintf("tag path of table t has the value %q", c.value)) || !strings.Contains(err.Error(), of.Name) {
				t.Errorf("%q: %v", c.value, err)
			}
		}
		if got := strings.Join(refused, " "); got != c.refused {
			t.Errorf("%q is refused by %s, want %s", c.value, got, c.refused)
		}
	}
	path := filepath.Join(t.TempDir(), "out")
	value := `say "hi", C:\` + "\n"
	writeDataset(t, "cratedb", path, writeTags(t, "t", "v", value, "plain"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tags map[string]string
	if err := json.Unmarshal([]byte(strings.Split(strings.Split(string(text), "\n")[3], "\t")[1]), &tags); err != nil || tags["path"] != value {
		t.Errorf("the tags %q are in\n%s: %v", tags, text, err)
	}
}
