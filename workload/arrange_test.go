package workload_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// lines reads a dataset in batches of a size, as line protocol.
func lines(t testing.TB, w workload.Workload, s workload.Spec, size int) []string {
	t.Helper()
	s.Name = w.Name()
	d, err := w.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	encoder := encode.NewLineProtocol(d.Schema())
	var text []byte
	var b series.Batch
	for r := d.Open(); ; {
		err := r.Next(&b, size)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || b.Rows() > size || b.Rows() == 0 {
			t.Fatalf("%d rows of %d, error %v", b.Rows(), size, err)
		}
		text = encoder.Append(text, &b)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// parts splits a line into its tags, its fields and the second of its time.
func parts(t testing.TB, line string) (tags, fields []string, second int) {
	t.Helper()
	part := strings.Split(line, " ")
	ns, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(part[0], ","), strings.Split(part[1], ","), time.Unix(0, ns).Second()
}

// seriesOf returns what tells the series of a line apart: its tags, those among
// the fields included, which are trucks' numeric ones.
func seriesOf(line string) string {
	tags, rest, _ := strings.Cut(line, " ")
	for field := range strings.SplitSeq(rest, ",") {
		if strings.HasPrefix(field, "load_cap") || strings.HasPrefix(field, "fuel_cap") || strings.HasPrefix(field, "nominal") {
			tags += "," + field
		}
	}
	return tags
}

// small is three hosts for a minute.
func small() workload.Spec {
	s := day()
	s.Scale, s.End = 3, s.Start.Add(time.Minute)
	return s
}

// De-interleaved rows are a sequence of the first host, one of the second, and
// so on, and then the same again.
func TestInARow(t *testing.T) {
	s := small()
	s.InARow = 4
	var got []string
	for _, line := range lines(t, tsbs.CPUOnly(), s, 5) {
		tags, _, second := parts(t, line)
		got = append(got, fmt.Sprint(strings.TrimPrefix(tags[1], "hostname="), " ", second))
	}
	const hosts = "host_0 host_1 host_2"
	var want []string
	for _, times := range [][]int{{0, 10, 20, 30}, {40, 50}} {
		for host := range strings.FieldsSeq(hosts) {
			for _, second := range times {
				want = append(want, fmt.Sprint(host, " ", second))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In every use case and with any size of batch, the rows are the same ones in
// another order: within sequences by series, which keep their own order.
func TestInARowKeepsRows(t *testing.T) {
	for _, w := range tsbs.Workloads() {
		s := small()
		s.Scale, s.InitialScale, s.End = 17, 5, s.Start.Add(10*time.Minute)
		plain := lines(t, w, s, 1000)
		for _, k := range []uint32{2, 7, 1000} {
			s.InARow = k
			arranged := lines(t, w, s, 1)
			for _, size := range []int{13, 5000} {
				if !slices.Equal(lines(t, w, s, size), arranged) {
					t.Errorf("%s, %d in a row: batches of %d rows have other rows", w.Name(), k, size)
				}
			}
			if slices.Equal(plain, arranged) {
				t.Errorf("%s, %d in a row: nothing has moved", w.Name(), k)
			}
			bySeries := func(lines []string) map[string][]string {
				m := map[string][]string{}
				for _, line := range lines {
					m[seriesOf(line)] = append(m[seriesOf(line)], line)
				}
				return m
			}
			if diff := cmp.Diff(bySeries(plain), bySeries(arranged)); diff != "" {
				t.Fatalf("%s, %d in a row, by series (-interleaved +not):\n%s", w.Name(), k, diff)
			}
		}
		// One interval in a row is how TSBS has it, but for the order of tables.
		s.InARow = 1
		if !slices.Equal(lines(t, w, s, 999), plain) {
			t.Errorf("%s: one row in a row is not as it was", w.Name())
		}
	}
}

// The first rows of each series and table stay, and the others do not.
func TestRecords(t *testing.T) {
	for _, w := range tsbs.Workloads() {
		s := small()
		s.Scale, s.InitialScale, s.End = 17, 5, s.Start.Add(10*time.Minute)
		seen := map[string]int{}
		var want []string
		for _, line := range lines(t, w, s, 1000) {
			if seen[seriesOf(line)]++; seen[seriesOf(line)] <= 7 {
				want = append(want, line)
			}
		}
		s.Records = 7
		for _, size := range []int{1, 13, 5000} {
			if got := lines(t, w, s, size); !slices.Equal(got, want) {
				t.Errorf("%s, batches of %d: %d rows, want %d; or other ones", w.Name(), size, len(got), len(want))
			}
		}
		if s.InitialScale = 0; w.Name() == "cpu-only" {
			if got, want := int64(len(lines(t, w, s, 1000))), w.Describe(s).RowsAtMost; got != want || want != 7*17 {
				t.Errorf("%d rows, at most %d", got, want)
			}
		}
	}
}

// Tags appear after a third of the time, fields after two.
func TestNewTagsAndFields(t *testing.T) {
	s := small()
	s.Scale, s.NewTags, s.NewFields = 1, 1, 2
	var got []string
	for _, line := range lines(t, tsbs.CPUOnly(), s, 2) {
		tags, fields, second := parts(t, line)
		tag, _, _ := strings.Cut(tags[len(tags)-1], "=")
		field, _, _ := strings.Cut(fields[len(fields)-1], "=")
		got = append(got, fmt.Sprintf("%d: %d tags to %s, %d fields to %s", second, len(tags)-1, tag, len(fields), field))
	}
	want := []string{
		"0: 9 tags to service_version, 8 fields to usage_steal",
		"10: 9 tags to service_version, 8 fields to usage_steal",
		"20: 10 tags to service_environment, 8 fields to usage_steal",
		"30: 10 tags to service_environment, 8 fields to usage_steal",
		"40: 10 tags to service_environment, 10 fields to usage_guest_nice",
		"50: 10 tags to service_environment, 10 fields to usage_guest_nice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Growing takes nothing but the last tags and fields, whatever else is
// arranged, and the size of a batch does not matter.
func TestNewTagsAndFieldsOfAll(t *testing.T) {
	for _, w := range tsbs.Workloads() {
		s := small()
		s.Scale, s.InitialScale, s.End, s.InARow, s.Records = 17, 5, s.Start.Add(10*time.Minute), 3, 40
		plain := lines(t, w, s, 1000)
		s.NewTags = 2
		if w.Name() != "cpu-single" {
			s.NewFields = 1
		}
		grown := lines(t, w, s, 1)
		for _, size := range []int{13, 5000} {
			if !slices.Equal(lines(t, w, s, size), grown) {
				t.Errorf("%s: batches of %d rows have other rows", w.Name(), size)
			}
		}
		if len(grown) != len(plain) {
			t.Fatalf("%s: %d rows, want %d", w.Name(), len(grown), len(plain))
		}
		whole := 0
		for i, line := range grown {
			var got, of []string
			for _, half := range []int{0, 1, 2} {
				got = append(got, strings.Split(strings.Split(line, " ")[half], ",")...)
				of = append(of, strings.Split(strings.Split(plain[i], " ")[half], ",")...)
			}
			if line == plain[i] {
				whole++
			}
			if left := slices.DeleteFunc(slices.Clone(of), func(part string) bool { return !slices.Contains(got, part) }); !slices.Equal(left, got) {
				t.Fatalf("%s, line %d:\n%s\nwants only parts of\n%s", w.Name(), i, line, plain[i])
			}
		}
		if share := float64(whole) / float64(len(plain)); share < 0.2 || share > 0.8 {
			t.Errorf("%s: %.2f of the rows are whole", w.Name(), share)
		}
	}
}

// LimitRows and SkipRows together return the whole dataset.
func TestAfter(t *testing.T) {
	d, err := tsbs.CPUOnly().Dataset(day())
	if err != nil {
		t.Fatal(err)
	}
	rows := func(d workload.Dataset) (n int64, first time.Time) {
		var b series.Batch
		for r := d.Open(); r.Next(&b, 999) == nil; n += int64(b.Rows()) {
			if n == 0 {
				first = time.Unix(0, b.Runs[0].Times[0]).UTC()
			}
		}
		return n, first
	}
	for _, n := range []int64{0, 100, 12_345, 864_000, 900_000} {
		had, _ := rows(workload.LimitRows(d, n))
		left, first := rows(workload.SkipRows(d, n))
		if had+left != 864_000 || n < 864_000 && !first.Equal(day().Start.Add(time.Duration(n/100)*10*time.Second)) {
			t.Errorf("%d rows and after them %d, from %v", had, left, first)
		}
	}
}

// A table needs a tag and a field from the start.
func TestTooManyNew(t *testing.T) {
	for want, set := range map[string]func(*workload.Spec){
		"--new-tags: 10 leaves table cpu, which has 10 tags, none at first; give 9 at most":     func(s *workload.Spec) { s.NewTags = 10 },
		"--new-fields: 11 leaves table cpu, which has 10 fields, none at first; give 9 at most": func(s *workload.Spec) { s.NewFields = 11 },
	} {
		s := small()
		set(&s)
		if _, err := tsbs.CPUOnly().Dataset(s); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A dataset without an arrangement keeps its fingerprint; each arrangement has its own.
func TestFingerprints(t *testing.T) {
	const before = "6c5f4c15931c2419"
	seen := map[string]string{}
	for name, set := range map[string]func(*workload.Spec){
		"plain":        func(*workload.Spec) {},
		"records":      func(s *workload.Spec) { s.Records = 3 },
		"more records": func(s *workload.Spec) { s.Records = 4 },
		"in a row":     func(s *workload.Spec) { s.InARow = 3 },
		"tags":         func(s *workload.Spec) { s.NewTags = 3 },
		"fields":       func(s *workload.Spec) { s.NewFields = 3 },
	} {
		s := day()
		set(&s)
		print := workload.Fingerprint(tsbs.CPUOnly(), s)
		if (print == before) != (name == "plain") || seen[print] != "" {
			t.Errorf("%s: %s, as %s", name, print, seen[print])
		}
		seen[print] = name
	}
	s := day()
	if s.InARow = 1; workload.Fingerprint(tsbs.CPUOnly(), s) != before {
		t.Error("one row in a row is another dataset")
	}
}

// Rows are moved without allocating anything for each.
func BenchmarkArranged(b *testing.B) {
	for name, set := range map[string]func(*workload.Spec){
		"plain":   func(*workload.Spec) {},
		"records": func(s *workload.Spec) { s.Records = 5000 },
		"row":     func(s *workload.Spec) { s.InARow = 10 },
		"new":     func(s *workload.Spec) { s.NewTags, s.NewFields = 1, 1 },
	} {
		b.Run(name, func(b *testing.B) {
			s := day()
			set(&s)
			d, err := tsbs.CPUOnly().Dataset(s)
			if err != nil {
				b.Fatal(err)
			}
			var batch series.Batch
			rows := 0
			b.ReportAllocs()
			for b.Loop() {
				for r := d.Open(); r.Next(&batch, 10_000) == nil; {
					rows += batch.Rows()
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
