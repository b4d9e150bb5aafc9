// Package iotdb provides the workload of IoTDB-Benchmark: groups of devices with
// sensors whose values are waves, noise and constants, rows that arrive late,
// and its queries (Liu and Yuan, "Benchmarking time series databases with
// IoTDB-Benchmark for IoT scenarios", 2019; "the paper"). Where a comment says
// "the tool", thulab/iot-benchmark at 4e8f44d1 is meant. docs/iotdb.md says what
// users need to know.
package iotdb

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Workload returns the workload.
func Workload() workload.Workload { return useCase{} }

type useCase struct{}

func (useCase) Name() string { return "iotdb" }

func (useCase) Help() string {
	return "IoTDB-Benchmark's: a table a group of devices, sensors that follow formulae with noise, late and repeated rows"
}

func (useCase) Check(s workload.Spec) error {
	_, err := read(s)
	return err
}

func (useCase) Memory(s workload.Spec) uint64 {
	perDevice := uint64(1)
	if s.IoTDB.LateMode == paperPoisson {
		perDevice = 16
	}
	over, bytes := bits.Mul64(uint64(s.Scale), perDevice)
	if over > 0 {
		return math.MaxUint64
	}
	return bytes
}

func (useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	read, err := read(s)
	if err != nil {
		return nil, err
	}
	d, err := newDataset(read)
	if err != nil {
		return nil, err
	}
	if s.MaxPoints == 0 && s.NewTags == 0 && s.NewFields == 0 {
		return d, nil
	}
	if read.duplicates > 0 || read.rewriting() {
		return nil, bad(own("duplicates"), "cannot be told from first rows where --max-data-points, --new-tags or --new-fields change them; leave one of both out")
	}
	var out workload.Dataset = d
	if s.MaxPoints > 0 {
		out = workload.Limited(out, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	s.Records, s.InARow = 0, 0 // this package's own readers have heeded them
	return workload.Arranged(out, s)
}

func (useCase) Values(s workload.Spec) series.Values {
	read, err := read(s)
	if err != nil {
		return series.Values{} // which Check says
	}
	if read.irregular || read.unaligned {
		s.Interval = time.Duration(read.grain)
	}
	v := s.Values()
	if read.rewriting() {
		v.First = v.First.Add(-time.Duration((1 + read.delays.largest()) * read.step))
	}
	if read.rewriting() || read.duplicates > 0 {
		v.Has = append(v.Has, series.RepeatedTimes)
	}
	return v
}

func (useCase) QueryTypes() []workload.QueryType {
	var listed []workload.QueryType
	for _, t := range queryTypes() {
		listed = append(listed, workload.QueryType{Name: t.name, Help: t.help})
	}
	return listed
}

func (useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	var names []string
	for number, t := range queryTypes() {
		if t.name == queryType {
			return t.draw(s, uint32(number), n)
		}
		names = append(names, t.name)
	}
	return nil, fmt.Errorf("unknown query type %q%s", queryType, suggest.Among(queryType, names))
}
