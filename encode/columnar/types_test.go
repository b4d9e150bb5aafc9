package columnar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// allTypes is a dataset with fields of every type and NULLs among them.
func allTypes(t *testing.T) workload.Dataset {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := iotdb.Workload().Dataset(workload.Spec{
		Name: "iotdb", Seed: 1, Scale: 7, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second,
		Settings: workload.Settings{"iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.unaligned": "true", "iotdb.text-length": "3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dataset
}

// Fields of every type are read back, NULLs too, from columns of their type.
func TestTypesReadBack(t *testing.T) {
	dataset := allTypes(t)
	batches, table := batches(t, dataset, 300), dataset.Schema().Tables[0]
	types := map[string][]string{
		"arrow": {"bool", "int32", "int64", "float32", "float64", "utf8", "utf8", "binary", "timestamp[ns, tz=UTC]", "date32"},
		"parquet": {
			"BOOLEAN None", "INT32 None", "INT64 None", "FLOAT None", "DOUBLE None", "BYTE_ARRAY String", "BYTE_ARRAY String", "BYTE_ARRAY None",
			"INT64 Timestamp(isAdjustedToUTC=true, timeUnit=nanoseconds, is_from_converted_type=false, force_set_converted_type=false)", "INT32 Date",
		},
	}
	for _, format := range columnar.Formats() {
		files := write(t, format, dataset.Schema(), batches, 999)
		got := read(t, format.Name, files[table.Name+"."+format.Name])
		checkEqual(t, format.Name, got, want(table, batches))
		if found := got.types[len(got.types)-len(table.Fields):]; !slices.Equal(found, types[format.Name]) {
			t.Errorf("%s: types %q, want %q", format.Name, found, types[format.Name])
		}
	}
	seen := map[series.Type]bool{}
	for _, f := range table.Fields {
		seen[f.Type] = true
	}
	for _, kind := range series.Types() {
		if !seen[kind] {
			t.Errorf("no field of type %v was tried", kind)
		}
	}
}

// Free texts are read back, empty ones and NULL apart, from row groups that end where
// their texts are many bytes.
func TestFreeTextsReadBack(t *testing.T) {
	table := &series.Table{
		Name: "notes", Tags: []series.Tag{{Key: "host", Values: series.Numbered{Prefix: "host_"}}},
		Fields: []series.Field{{Name: "note", Type: series.Text}, {Name: "v", Type: series.Int}, {Name: "other", Type: series.Text}},
	}
	texts := []string{"", "plain", "it's \"so\", \\", "two\r\nlines", "Ωμέγα 😀", strings.Repeat("long ", series.MaxFreeText/5)}
	var all []*series.Batch
	for n := range 5 {
		b := &series.Batch{}
		run := b.Add(table)
		run.Grow(900)
		for row := range run.Times {
			run.Series[row], run.Times[row], run.Columns[1].Ints[row] = 0, int64(n*1000+row), int64(row)
			if row%7 == n {
				run.SetNull(0, row)
			} else {
				run.Columns[0].SetText(row, []byte(texts[row%len(texts)]))
			}
			run.Columns[2].SetText(row, []byte(texts[(row+1)%len(texts)]))
		}
		all = append(all, b)
	}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 1}
	for _, format := range columnar.Formats() {
		got := read(t, format.Name, write(t, format, schema, all, 1_000_000)["notes."+format.Name])
		checkEqual(t, format.Name, got, want(table, all))
		if got.groups < 2 {
			t.Errorf("%s: 90 MB of texts are in one group", format.Name)
		}
	}
}
