package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store/archive"
)

// ofColumns returns a results folder as the last version left it that kept runs in
// columns, and the runs as that version exported them. Among them are one with
// repeats, one with a mixed phase, a sweep, an open loop, one whose target failed,
// one that was imported and one that was killed.
func ofColumns(t *testing.T) (dir string, exported []archive.Entry) {
	t.Helper()
	z, err := zstd.NewReader(nil)
	must(t, err)
	defer z.Close()
	packed, err := os.ReadFile("testdata/columns.db.zst")
	must(t, err)
	database, err := z.DecodeAll(packed, nil)
	must(t, err)
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, FileName), database, 0o666))
	packed, err = os.ReadFile("testdata/columns.tsmark.zst")
	must(t, err)
	exported, err = archive.Read(bytes.NewReader(packed), archive.DefaultLimit)
	must(t, err)
	return dir, exported
}

// Runs that were kept in columns become the documents that the same runs become
// when they are imported from what the version exported that kept them, to the
// last byte.
func TestColumnsBecomeDocuments(t *testing.T) {
	dir, exported := ofColumns(t)
	s, err := Open(t.Context(), dir, nil)
	must(t, err)
	defer s.Close()
	runs, err := s.Runs(t.Context())
	must(t, err)
	if len(runs) != len(exported) || len(runs) != 8 {
		t.Fatalf("%d runs of %d are there", len(runs), len(exported))
	}
	for _, e := range exported {
		run, document, err := s.Document(t.Context(), e.Run.ID)
		must(t, err)
		want, err := result.Encode(e.Run)
		must(t, err)
		if !bytes.Equal(document, want) {
			t.Errorf("run %s became another one (-exported +converted):\n%s", run.ID, cmp.Diff(e.Run, run))
		}
		at := slices.IndexFunc(runs, func(r Summary) bool { return r.ID == run.ID })
		if got := summarize(run); !cmp.Equal(got, runs[at]) {
			t.Errorf("(-of the document +beside it):\n%s", cmp.Diff(got, runs[at]))
		}
	}
	// As the version that kept them in columns listed them.
	var list [][]any
	imported := 0
	for _, r := range runs {
		list = append(list, []any{r.ID, r.Status, r.Types, r.Withheld, len(r.Targets), r.Failed(), r.Place.Point})
		if r.Imported {
			imported++
		}
	}
	want := [][]any{
		{"20261122-141434-51b9", result.Running, 6, 0, 2, 0, 0},
		{"20261122-141432-d98d", result.Complete, 2, 0, 1, 0, 0},
		{"20261122-141431-7dff", result.Incomplete, 0, 0, 2, 1, 0},
		{"20261122-141430-0f3c", result.Complete, 1, 0, 1, 0, 0},
		{"20261122-141429-b425", result.Complete, 1, 0, 1, 0, 2},
		{"20261122-141428-3773", result.Complete, 1, 0, 1, 0, 1},
		{"20261122-141427-ba12", result.Complete, 2, 0, 1, 0, 0},
		{"20261122-141426-8266", result.Complete, 2, 0, 1, 0, 0},
	}
	if diff := cmp.Diff(want, list); diff != "" || imported != 1 {
		t.Errorf("%d were imported (-want +got):\n%s", imported, diff)
	}
	sweeps, err := s.Sweeps(t.Context())
	must(t, err)
	if len(sweeps) != 1 || sweeps[0].ID != "20261122-141428-sb11d" || sweeps[0].Points != 2 || sweeps[0].Experiment == "" || len(sweeps[0].Args) == 0 {
		t.Errorf("sweeps %+v", sweeps)
	}
	found, err := s.Find(t.Context(), Unfinished)
	if err != nil || found.Runs[0] != "20261122-141434-51b9" {
		t.Errorf("the run that was killed is not resumed, but %v (%v)", found, err)
	}
}

// A folder that cannot be written to holds what it holds.
func TestColumnsAreNotConvertedForReading(t *testing.T) {
	dir, _ := ofColumns(t)
	if _, err := openDatabase(t.Context(), dir, nil, false); err == nil || !bytes.Contains([]byte(err.Error()), []byte("older tsmark")) {
		t.Errorf("read all the same: %v", err)
	}
}

// What the version exported that kept runs in columns is imported, once.
func TestImportOfColumns(t *testing.T) {
	_, exported := ofColumns(t)
	s := openTemp(t)
	for _, e := range exported {
		must(t, s.Add(t.Context(), e.Run))
		_, stored, err := s.Document(t.Context(), e.Run.ID)
		must(t, err)
		var again bytes.Buffer
		must(t, archive.Write(&again, result.Tool{}, []archive.Entry{{Run: e.Run, Document: stored, Files: e.Files}}))
		if !bytes.Contains(again.Bytes(), stored) {
			t.Errorf("run %s is not exported as it is stored", e.Run.ID)
		}
		back, err := archive.Read(&again, archive.DefaultLimit)
		must(t, err)
		if same, err := archive.Same(back[0].Run, e.Run); err != nil || !same || len(back[0].Files) != len(e.Files) {
			t.Errorf("run %s came back as another one (%v)", e.Run.ID, err)
		}
	}
}
