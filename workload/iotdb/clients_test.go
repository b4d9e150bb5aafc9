package iotdb

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Clients have contiguous ranges of devices; the first ones are longer by one: 100 devices and 8
// clients are the tool's example.
func TestDevicesOfClients(t *testing.T) {
	s := base()
	s.Scale = 100
	d := dataset(t, s)
	var sizes []uint32
	next := uint32(0)
	for i := range 8 {
		first, last := d.devicesOf(i, 8)
		if first != next {
			t.Errorf("client %d begins with device %d, want %d", i, first, next)
		}
		for device := first; device < last; device++ {
			if client := d.Client(device, 8); client != i {
				t.Errorf("device %d is client %d's, want %d", device, client, i)
			}
		}
		sizes, next = append(sizes, last-first), last
	}
	if diff := cmp.Diff([]uint32{13, 13, 13, 13, 12, 12, 12, 12}, sizes); diff != "" {
		t.Errorf("devices of the clients (-want +got):\n%s", diff)
	}
	s.Scale, s.Groups, s.Group = 100, 3, 1 // devices 33 to 65
	part := dataset(t, s)
	if got := []int{part.Client(33, 2), part.Client(49, 2), part.Client(50, 2), part.Client(65, 2)}; !slices.Equal(got, []int{0, 0, 1, 1}) {
		t.Errorf("clients of a part's devices are %v", got)
	}
	if _, err := part.Deal(34, 100); err == nil || !strings.HasPrefix(err.Error(), "34 exceeds the number of devices, 33,") {
		t.Errorf("error %v", err)
	}
}

// Clients that alternate send the same rows: each device's in the same order,
// no batch two clients', and nobody is ahead by more than a block and a quantum.
func TestDeal(t *testing.T) {
	const clients, quantum = 3, 250
	for name, spec := range variants() {
		t.Run(name, func(t *testing.T) {
			d := dataset(t, spec)
			dealt, err := d.Deal(clients, quantum)
			if err != nil {
				t.Fatal(err)
			}
			byDevice := func(all []flat) []flat {
				all = slices.Clone(all)
				slices.SortStableFunc(all, func(a, b flat) int { return int(a.series) - int(b.series) })
				return all
			}
			sent := rowsOf(t, dealt.Open(), quantum)
			if !slices.Equal(byDevice(sent), byDevice(rowsOf(t, d.Open(), 1000))) {
				t.Error("the rows are others")
			}
			if !slices.Equal(rowsOf(t, dealt.Open(), 77), sent) {
				t.Error("in batches of 77 rows the order is another one")
			}
			perClient := make([]int, clients)
			var b series.Batch
			for reader := dealt.Open(); ; {
				if err := reader.Next(&b, quantum); errors.Is(err, io.EOF) {
					break
				}
				client := d.Client(b.Runs[0].Series[0], clients)
				for i := range b.Runs {
					for _, device := range b.Runs[i].Series {
						if d.Client(device, clients) != client {
							t.Fatalf("device %d is in a batch of client %d", device, client)
						}
					}
				}
				perClient[client] += b.Rows()
			}
			if slices.Min(perClient) == 0 {
				t.Errorf("the clients sent %v rows", perClient)
			}
			if spec.Settings["iotdb.late-mode"] == "" && spec.Settings["iotdb.duplicates"] == "" {
				keepsUp(t, d, sent, clients, quantum)
			}
		})
	}
}

// keepsUp fails if a client is behind by more than a block of rows and a quantum.
func keepsUp(t *testing.T, d *Dataset, sent []flat, clients, quantum int) {
	t.Helper()
	newest := int64(math.MinInt64)
	behind := time.Duration(0)
	for _, r := range sent {
		newest = max(newest, r.time)
		behind = max(behind, time.Duration(newest-r.time))
	}
	sources := 1
	if d.settings.unaligned {
		sources = int(d.settings.sensors)
	}
	first, last := d.devicesOf(clients-1, clients) // the fewest
	blocks := 2 + quantum/(int(last-first)*sources*int(d.settings.block))
	if most := time.Duration(int64(blocks) * (d.settings.block + 1) * d.settings.step); behind > most {
		t.Errorf("a row is %v behind, want at most %v", behind, most)
	}
}

// Queries about one instant find their row wherever they are moved.
func TestMovedToRows(t *testing.T) {
	for name, spec := range variants() {
		if spec.Settings["iotdb.late-mode"] == paperPoisson {
			continue // which rows there are is known only behind all of them
		}
		d := dataset(t, spec)
		type key struct {
			series uint32
			time   int64
		}
		there := map[key]bool{}
		for _, r := range rowsOf(t, d.Open(), 1000) {
			there[key{r.series, r.time}] = true
		}
		for _, windows := range []workload.Windows{workload.Uniform, workload.Recent, workload.Sliding} {
			sequence, err := windows.Draw(Workload(), spec, precisePoint, 50, false)
			if err != nil {
				t.Fatal(err)
			}
			queries := slices.Collect(sequence)
			times := map[int64]bool{}
			for i := range queries {
				q := &queries[i]
				if q.End.Sub(q.Start) != instant || !there[key{d.settings.sourceOf(q).device, q.Start.UnixNano()}] {
					t.Fatalf("%s, %s: there is no row of %v at %v", name, windows, q.In.Values, q.Start)
				}
				times[q.Start.UnixNano()] = true
			}
			if len(times) < 40 {
				t.Errorf("%s, %s: %d different moments", name, windows, len(times))
			}
		}
	}
}

// It is the newest row at or before a time that such a query is moved to, or
// the first one, unless that is too late.
func TestOnRow(t *testing.T) {
	spec := variants()["irregular"]
	d := dataset(t, spec)
	var times []int64
	for _, r := range rowsOf(t, d.Part(5, 6, 0, d.settings.rows), 1000) {
		times = append(times, r.time)
	}
	place := func(at int64, before time.Time) int64 {
		q := query.Query{Type: precisePoint, Shape: query.Rows{Fields: []string{"s_0"}}, In: &query.TagIn{Key: DeviceTag, Values: []string{"d_5"}}, Start: time.Unix(0, at)}
		d.OnRow(&q, before)
		return q.Start.UnixNano()
	}
	for i := range 2000 {
		at := times[0] + int64(i)*int64(2617*time.Millisecond)
		newest, _ := slices.BinarySearch(times, at+1)
		if got := place(at, spec.End); got != times[newest-1] {
			t.Fatalf("%v is moved to %v, want %v", time.Unix(0, at), time.Unix(0, got), time.Unix(0, times[newest-1]))
		}
	}
	start := spec.Start.UnixNano()
	if got := place(start, spec.End); got != times[0] {
		t.Errorf("the start is moved to %v, want the first row", time.Unix(0, got))
	}
	if got := place(start, time.Unix(0, times[0])); got != start {
		t.Errorf("the start is moved to %v, which no query may cover", time.Unix(0, got))
	}
}
