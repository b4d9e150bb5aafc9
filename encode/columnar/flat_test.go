//go:build !light

package columnar

import (
	"bytes"
	"reflect"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/tsmark/tsmark/series"
)

// Rows of values are read back as they were added, NULLs included, over several row groups.
func TestFlat(t *testing.T) {
	var file bytes.Buffer
	f, err := NewFlat(&file, []FlatColumn{{"figure", series.Float}, {"count", series.Int}, {"name", series.Text}, {"is", series.Bool}, {"at", series.Timestamp}})
	if err != nil {
		t.Fatal(err)
	}
	const rows = maxRows + 2
	for i := range rows {
		row := []any{float64(i) / 2, int64(i), "é", i%2 == 0, int64(i) * 1e9}
		if i == 1 {
			row = make([]any, 5)
		}
		if err := f.Add(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Add(1, nil, nil, nil, nil); err == nil || err.Error() != "column figure: int is not a type of Parquet files" {
		t.Errorf("an int: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := pqfile.NewParquetReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if r.NumRows() != rows || r.NumRowGroups() != 2 {
		t.Errorf("%d rows in %d groups", r.NumRows(), r.NumRowGroups())
	}
	column := func(i int) pqfile.ColumnChunkReader {
		c, err := r.RowGroup(0).Column(i)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	levels, floats := make([]int16, 4), make([]float64, 4)
	if _, n, err := column(0).(*pqfile.Float64ColumnChunkReader).ReadBatch(4, floats, levels, nil); err != nil || n != 3 || !reflect.DeepEqual(levels, []int16{1, 0, 1, 1}) || floats[2] != 1.5 {
		t.Errorf("figures %v, %v, %v", floats[:n], levels, err)
	}
	texts := make([]pq.ByteArray, 4)
	if _, n, err := column(2).(*pqfile.ByteArrayColumnChunkReader).ReadBatch(4, texts, levels, nil); err != nil || n != 3 || string(texts[1]) != "é" {
		t.Errorf("names %q, %v", texts[:n], err)
	}
	times := make([]int64, 4)
	if _, n, err := column(4).(*pqfile.Int64ColumnChunkReader).ReadBatch(4, times, levels, nil); err != nil || n != 3 || times[2] != 3e9 {
		t.Errorf("times %v, %v", times[:n], err)
	}
}
