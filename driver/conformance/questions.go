package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Questions compares how a kind asks the first question of each type, with the
// parameters that TSBS draws for its seed 123, or iotdb for that seed, with the files
// testdata/questions/TYPE.EXTENSION beside the test. With update it writes them.
func Questions(t *testing.T, kind driver.Driver, extension string, update bool) {
	QuestionsWith(t, kind, nil, "questions", extension, update)
}

// QuestionsWith is Questions of a kind with options, whose files are in a folder
// of testdata.
func QuestionsWith(t *testing.T, kind driver.Driver, given map[string]string, folder, extension string, update bool) {
	options, err := kind.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	spec := workload.Spec{
		Seed: 123, Scale: 100, Interval: 10 * time.Second,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC),
	}
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT(), iotdb.Workload()} {
		if spec.Name = use.Name(); spec.Name == iotdb.Workload().Name() {
			spec.Asked = workload.IoTDBQueries{Devices: 2, Sensors: 2, Aggregate: "max"}
		}
		dataset, err := use.Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, queryType := range use.QueryTypes() {
			sequence, err := use.Queries(spec, queryType.Name, 1)
			if err != nil {
				t.Fatal(err)
			}
			queries := slices.Collect(sequence)
			request, err := kind.Render(&queries[0], dataset.Schema(), options)
			if errors.Is(err, query.ErrUnsupported) {
				request.Text, err = "n/a: "+err.Error(), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", folder, queryType.Name+"."+extension), request.Text+"\n", update)
		}
	}
}

// golden compares a text with a file's, or writes the file.
func golden(t *testing.T, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right, run the test with -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
