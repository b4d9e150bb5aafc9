package generate_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A failing output ends the whole pipeline, and so does a cancelled context.
func TestWriteColumnsStops(t *testing.T) {
	dataset, err := tsbs.CPUOnly().Dataset(day(1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range columnar.Formats() {
		full := errors.New("no space left")
		w, err := format.New(dataset.Schema(), func(string) (io.Writer, error) { return failing{full}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := generate.WriteColumns(context.Background(), w, dataset.Open(), func(int) {}); !errors.Is(err, full) {
			t.Errorf("%s: error %v, want %v", format.Name, err, full)
		}
		if w, err = format.New(dataset.Schema(), func(string) (io.Writer, error) { return io.Discard, nil }); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		rows := 0
		err = generate.WriteColumns(ctx, w, dataset.Open(), func(n int) {
			if rows += n; rows > 10_000 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || rows > 500_000 {
			t.Errorf("%s: error %v after %d rows, want an early end by cancellation", format.Name, err, rows)
		}
	}
}

// Every format writes under the name that it was given, and leaves nothing
// when it is given up.
func TestFormats(t *testing.T) {
	spec := day(10)
	spec.MaxPoints = 1000
	dataset, err := tsbs.CPUOnly().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range generate.Formats() {
		dir := t.TempDir()
		for _, commit := range []bool{false, true} {
			out, err := format.Create(filepath.Join(dir, "out"), dataset.Schema())
			if err != nil {
				t.Fatalf("%s: %v", format.Name, err)
			}
			rows := 0
			if err := out.Write(context.Background(), dataset.Open(), func(n int) { rows += n }); err != nil || rows != 1000 {
				t.Errorf("%s: %d rows, %v", format.Name, rows, err)
			}
			if commit {
				if err := out.Commit(); err != nil {
					t.Errorf("%s: %v", format.Name, err)
				}
			}
			out.Discard()
			entries, err := os.ReadDir(dir)
			if err != nil || commit != (len(entries) == 1 && entries[0].Name() == "out" && entries[0].IsDir() == format.Folder) || !commit && len(entries) > 0 {
				t.Errorf("%s: the folder holds %v, %v", format.Name, entries, err)
			}
		}
	}
}
