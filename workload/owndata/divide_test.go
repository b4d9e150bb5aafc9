package owndata_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// bySeries are the rows of a pass, each as a text, per series in their order.
func bySeries(t *testing.T, d workload.Dataset) map[uint32][]string {
	t.Helper()
	rows := make(map[uint32][]string)
	var b series.Batch
	for r := d.Open(); ; {
		if err := r.Next(&b, 7); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Runs {
			run := &b.Runs[i]
			for row, s := range run.Series {
				rows[s] = append(rows[s], fmt.Sprint(run.Table.Name, " ", run.Times[row], " ", run.Columns[0].Floats[row]))
			}
		}
	}
}

// sharesOf fails unless shares have every row of a dataset once, no series in two of them, and the
// rows of each in their order. It returns the rows of each share.
func sharesOf(t *testing.T, d workload.Dataset, shares int) (sizes []int) {
	t.Helper()
	want, got := bySeries(t, d), make(map[uint32][]string)
	for i := range shares {
		n := 0
		for s, rows := range bySeries(t, workload.Share{Index: i, Count: shares}.Dataset(d)) {
			if got[s] != nil {
				t.Errorf("series %d is in two shares", s)
			}
			got[s] = rows
			n += len(rows)
		}
		sizes = append(sizes, n)
	}
	for s, rows := range want {
		if !slices.Equal(got[s], rows) {
			t.Errorf("%d shares have of series %d\n%v, want\n%v", shares, s, got[s], rows)
		}
	}
	if len(got) > len(want) {
		t.Errorf("%d series, want %d", len(got), len(want))
	}
	return sizes
}

// rowOf is a row of CSV.
func rowOf(host, second int) string {
	return fmt.Sprintf("%d,host_%d,%d.5\n", 1_700_000_000+second, host, second)
}

// reads fails unless a share is read from these files alone: the others are not there while it
// is read.
func reads(t *testing.T, d workload.Dataset, s workload.Share, dir string, files ...string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !slices.Contains(files, f.Name()) {
			name := filepath.Join(dir, f.Name())
			if err := os.Rename(name, name+".away"); err != nil {
				t.Fatal(err)
			}
			defer os.Rename(name+".away", name)
		}
	}
	if len(bySeries(t, s.Dataset(d))) == 0 {
		t.Error("the share has no rows")
	}
}

// Files that share no series are divided among clients, and each client reads only its files. Files
// that share a series stay together; if that makes the shares uneven, series are divided instead.
func TestShareOfFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, hosts ...int) {
		var text strings.Builder
		text.WriteString("time,host,load\n")
		for second := range 20 {
			for _, host := range hosts {
				text.WriteString(rowOf(host, second))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("a.csv", 1)
	file("b.csv", 2)
	file("c.csv", 3)
	file("d.csv", 4)
	d := openOwn(t, "files="+dir, "tags=host", "fields=load:float")
	if sizes := sharesOf(t, d, 2); !slices.Equal(sizes, []int{40, 40}) {
		t.Errorf("shares of %v rows", sizes)
	}
	reads(t, d, workload.Share{Index: 0, Count: 2}, dir, "a.csv", "c.csv")
	reads(t, d, workload.Share{Index: 3, Count: 4}, dir, "d.csv")
	sharesOf(t, d, 4)
	sharesOf(t, d, 3) // 40, 20 and 20 rows of files are not even
	sharesOf(t, d, 5)

	// a and c have a series in common by b.
	file("a.csv", 1, 5)
	file("b.csv", 5, 6)
	file("c.csv", 6, 3)
	file("d.csv", 4, 7, 8, 9, 10, 11)
	d = openOwn(t, "files="+dir, "tags=host", "fields=load:float")
	if sizes := sharesOf(t, d, 2); !slices.Equal(sizes, []int{120, 120}) {
		t.Errorf("shares of %v rows", sizes)
	}
	reads(t, d, workload.Share{Index: 0, Count: 2}, dir, "a.csv", "b.csv", "c.csv")
	reads(t, d, workload.Share{Index: 1, Count: 2}, dir, "d.csv")
}

// Whatever series files have in common, shares are the whole.
func TestShareOfAnyFiles(t *testing.T) {
	slowtest.Skip(t)
	random := rand.New(rand.NewPCG(1, 18))
	for range 15 {
		dir := t.TempDir()
		hosts := 1 + random.IntN(12)
		for f := range 1 + random.IntN(8) {
			text := "time,host,load\n"
			of := random.IntN(hosts)
			for range 1 + random.IntN(30) {
				if random.IntN(10) == 0 {
					of = random.IntN(hosts)
				}
				text += rowOf(of, random.IntN(20)) // some of them late, some twice
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".csv")), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := openOwn(t, "files="+dir, "tags=host", "fields=load:float")
		for shares := 1; shares < 6; shares++ {
			sharesOf(t, d, shares)
		}
	}
}

// groupOf is a batch of rows of some hosts.
func groupOf(schema *arrow.Schema, hosts []int, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for row := range rows {
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000 + 1000*row))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("host_", hosts[row%len(hosts)]))
		b.Field(2).(*array.Float64Builder).Append(float64(row))
	}
	return b.NewRecordBatch()
}

// Row groups of Parquet and record batches of Arrow, as file and as stream, are divided like files,
// even if they are so small that a batch could hold several.
func TestShareOfRowGroups(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "host", Type: arrow.BinaryTypes.String}, {Name: "load", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	groups := [][]int{{1, 2}, {3}, {4, 5}, {2, 6}, {7}, {8, 9}}
	for _, format := range []string{"parquet", "arrow", "arrows"} {
		t.Run(format, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a."+format)
			out, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			var w interface {
				Write(arrow.RecordBatch) error
				Close() error
			}
			switch format {
			case "parquet":
				w, err = pqarrow.NewFileWriter(schema, out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
			case "arrow":
				w, err = ipc.NewFileWriter(out, ipc.WithSchema(schema))
			default:
				w = ipc.NewWriter(out, ipc.WithSchema(schema))
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, hosts := range groups {
				if err := w.Write(groupOf(schema, hosts, 50)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			_ = out.Close() // Parquet's writer has closed it
			d := openOwn(t, "files="+name, "tags=host", "fields=load:float")
			// The first and the fourth group have a series in common.
			if sizes := sharesOf(t, d, 3); !slices.Equal(sizes, []int{100, 100, 100}) {
				t.Errorf("shares of %v rows", sizes)
			}
			var first []string
			for s := range bySeries(t, workload.Share{Index: 0, Count: 3}.Dataset(d)) {
				first = append(first, fmt.Sprint(s))
			}
			slices.Sort(first)
			if !slices.Equal(first, []string{"0", "1", "5"}) { // hosts 1, 2 and 6, in the order of the file
				t.Errorf("the first share has the series %v", first)
			}
			sharesOf(t, d, 2)
			sharesOf(t, d, 4)
		})
	}
}
