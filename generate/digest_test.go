package generate_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func digestOf(t *testing.T, d workload.Dataset) string {
	t.Helper()
	digest, err := generate.DigestOf(t.Context(), d, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func devops(t *testing.T) workload.Dataset {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.Devops().Dataset(workload.Spec{Name: "devops", Seed: 123, Scale: 10, Start: start, End: start.Add(10 * time.Minute), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// text returns the dataset as line protocol, read in batches of the given number of rows.
func text(t testing.TB, d workload.Dataset, rows int) []byte {
	t.Helper()
	var out []byte
	var batch series.Batch
	lines := encode.NewLineProtocol(d.Schema())
	for r := d.Open(); ; {
		if err := r.Next(&batch, rows); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = lines.Append(out, &batch)
	}
}

// The digest is what docs/measuring.md says, computed here in another way, and
// neither pieces nor the order of rows matter.
func TestDigest(t *testing.T) {
	d := devops(t)
	want := digestOf(t, d)
	sum := new(big.Int)
	all := text(t, d, 77)
	lines := strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		h := xxh3.HashString128(lines[i]).Bytes()
		sum.Add(sum, new(big.Int).SetBytes(h[:]))
	}
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 128))
	if got := fmt.Sprintf("xxh3-128:%032x", sum); got != want {
		t.Errorf("%s, computed otherwise %s", want, got)
	}
	for _, piece := range []int{1, 3, 4096, len(all)} {
		var digest generate.Digest
		for rest := all; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			if _, err := digest.Write(rest[:min(piece, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if digest.String() != want || digest.Lines() != int64(len(lines)) {
			t.Errorf("in pieces of %d bytes %v of %d lines, want %s", piece, &digest, digest.Lines(), want)
		}
	}
	other := bytes.Replace(all, []byte("usage_user=5"), []byte("usage_user=6"), 1)
	var digest generate.Digest
	if _, err := digest.Write(other); err != nil || bytes.Equal(other, all) || digest.String() == want {
		t.Errorf("another value has the same digest, %v", err)
	}
	// A row that is missing, and one that comes twice.
	for _, n := range []int64{int64(len(lines)) - 1} {
		if digestOf(t, workload.LimitRows(d, n)) == want {
			t.Error("fewer rows have the same digest")
		}
	}
	digest = generate.Digest{}
	if _, err := digest.Write(append(all, all[:bytes.IndexByte(all, '\n')+1]...)); err != nil || digest.String() == want {
		t.Errorf("a row that comes twice counts once, %v", err)
	}
}

// Rows that are dealt to clients come in another order, and are the same.
func TestDigestOfDealtRows(t *testing.T) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := iotdb.Workload().Dataset(workload.Spec{Name: "iotdb", Scale: 6, Seed: 1, Start: start, End: start.Add(300 * time.Second), Interval: time.Second,
		Settings: workload.Settings{"iotdb.sensors": "9"}})
	if err != nil {
		t.Fatal(err)
	}
	want := digestOf(t, d)
	for _, c := range [][2]int{{2, 7}, {3, 100}} {
		dealt, err := d.(workload.Dealt).Deal(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := digestOf(t, dealt); got != want {
			t.Errorf("dealt to %d clients %s, want %s", c[0], got, want)
		}
	}
}

// Rows read from a file are the rows written to it, whether or not the specification names the
// dataset.
func TestDigestOfFile(t *testing.T) {
	d := devops(t)
	want := digestOf(t, d)
	name := t.TempDir() + "/rows.lp"
	format, err := generate.Find("influx")
	if err != nil {
		t.Fatal(err)
	}
	out, err := format.Create(name, d.Schema())
	if err == nil {
		err = out.Write(t.Context(), d.Open(), func(int) {})
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := ingest.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := owndata.Workload(nil)
	own, err := w.Dataset(workload.Spec{Name: w.Name(), Settings: workload.Settings{"own.files": name}})
	if err != nil {
		t.Fatal(err)
	}
	for says, read := range map[string]workload.Dataset{"known": source.Dataset(d.Schema(), 0), "own": own} {
		if got := digestOf(t, read); got != want {
			t.Errorf("%s: %s, want %s", says, got, want)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	lines := text(b, workload.LimitRows(d, 4096), 4096)
	var digest generate.Digest
	b.SetBytes(int64(len(lines)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := digest.Write(lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(digest.Lines())/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// A dataset's size as a file is that of the text that is written, header included.
func TestSizeOf(t *testing.T) {
	d := devops(t)
	if got, err := generate.SizeOf(t.Context(), d, "influx", func(int) {}); err != nil || got != int64(len(text(t, d, 77))) {
		t.Errorf("%d bytes, %v, want %d", got, err, len(text(t, d, 77)))
	}
	var file bytes.Buffer
	if err := generate.Write(t.Context(), &file, d.Open(), encode.NewTimescaleDB(d.Schema()), func(int) {}); err != nil {
		t.Fatal(err)
	}
	if got, err := generate.SizeOf(t.Context(), d, "timescaledb", func(int) {}); err != nil || got != int64(file.Len()) || got == 0 {
		t.Errorf("%d bytes, %v, want %d", got, err, file.Len())
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(text(t, d, 77))); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if got, err := generate.SizeOf(t.Context(), d, "influx.gz", func(int) {}); err != nil || got != int64(zipped.Len()) {
		t.Errorf("compressed: %d bytes, %v, want %d", got, err, zipped.Len())
	}
	if _, err := generate.SizeOf(t.Context(), d, "inflx", func(int) {}); err == nil || !strings.Contains(err.Error(), `unknown format "inflx"`) {
		t.Errorf("error %v", err)
	}
}
