package generate_test

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// counter hashes and counts the bytes written.
type counter struct {
	hash hash.Hash
	n    int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if c.hash != nil {
		c.hash.Write(p)
	}
	return len(p), nil
}

func day(scale uint32) workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "cpu-only", Seed: 123, Scale: scale, Start: start, End: start.Add(24 * time.Hour), Interval: 10 * time.Second}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A failing output ends the whole pipeline, and so does a cancelled context.
func TestWriteStops(t *testing.T) {
	dataset, err := tsbs.CPUOnly().Dataset(day(1000))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	encoder := encode.NewLineProtocol(dataset.Schema())
	if err := generate.Write(context.Background(), failing{full}, dataset.Open(), encoder, func(int) {}); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows := 0
	err = generate.Write(ctx, &counter{}, dataset.Open(), encoder, func(n int) {
		if rows += n; rows > 10_000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || rows > 100_000 {
		t.Errorf("error %v after %d rows, want an early end by cancellation", err, rows)
	}
}

func BenchmarkInflux(b *testing.B) {
	for _, scale := range []uint32{100, 4000, 100_000} {
		b.Run(fmt.Sprint(scale), func(b *testing.B) {
			spec := day(scale)
			spec.MaxPoints = 2_000_000
			spec.End = spec.Start.Add(10 * 24 * time.Hour)
			dataset, err := tsbs.CPUOnly().Dataset(spec)
			if err != nil {
				b.Fatal(err)
			}
			encoder := encode.NewLineProtocol(dataset.Schema())
			rows := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := generate.Write(context.Background(), &counter{}, dataset.Open(), encoder, func(n int) { rows += n }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
