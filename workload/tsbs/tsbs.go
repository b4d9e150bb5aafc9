// Package tsbs provides the use cases of the Time Series Benchmark Suite: the
// same rows, to the byte, and the same queries about the same hosts and
// windows. Where a comment says "TSBS", timescale/tsbs at 37fced79 is meant.
package tsbs

import (
	"iter"
	"math"
	"math/bits"
	"time"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// Workloads lists the use cases of this package.
func Workloads() []workload.Workload {
	return []workload.Workload{CPUOnly(), CPUSingle(), Devops(), DevopsGeneric(), IoT()}
}

// CPUOnly returns the cpu-only use case: ten integers a host and epoch.
func CPUOnly() workload.Workload {
	return useCase{
		name:   "cpu-only",
		tables: 1,
		bytes:  88,
		help:   "TSBS's cpu-only: one table cpu, ten integer fields, a row a host and interval",
		dataset: func(s workload.Spec) workload.Dataset {
			return newHostDataset(s, []*subsystem{cpuSubsystem(cpuFieldCount)})
		},
		types: devopsTypes(),
	}
}

// CPUSingle returns the cpu-single use case: one integer a host and epoch. TSBS
// has no queries about it.
func CPUSingle() workload.Workload {
	return useCase{
		name:   "cpu-single",
		tables: 1,
		bytes:  16,
		help:   "TSBS's cpu-single: one table cpu, one integer field, a row a host and interval",
		dataset: func(s workload.Spec) workload.Dataset {
			return newHostDataset(s, []*subsystem{cpuSubsystem(1)})
		},
	}
}

// Devops returns the devops use case: nine tables with 101 fields.
func Devops() workload.Workload {
	return useCase{
		name:    "devops",
		tables:  9,
		bytes:   760,
		help:    "TSBS's devops: nine tables of a host's systems, 101 fields, a row a host, table and interval",
		dataset: func(s workload.Spec) workload.Dataset { return newHostDataset(s, devopsSubsystems(s.Scale)) },
		types:   devopsTypes(),
	}
}

// DevopsGeneric returns the devops-generic use case: hosts with different numbers of metrics, half
// of them alive for only a part of the time. TSBS has no queries for it.
func DevopsGeneric() workload.Workload {
	return useCase{
		name:    "devops-generic",
		tables:  1,
		bytes:   32,
		help:    "TSBS's devops-generic: one table, hosts with 1 to --max-metric-count integers that come and go",
		dataset: func(s workload.Spec) workload.Dataset { return newGenericDataset(s) },
	}
}

// IoT returns the iot use case: readings and diagnostics of trucks, with rows
// that are late, missing or incomplete.
func IoT() workload.Workload {
	return useCase{
		name:    "iot",
		tables:  2,
		bytes:   84,
		help:    "TSBS's iot: two tables of trucks' readings and diagnostics, with late, missing and incomplete rows",
		dataset: func(s workload.Spec) workload.Dataset { return newTruckDataset(s) },
		types:   iotTypes(),
	}
}

// useCase is a use case of TSBS.
type useCase struct {
	name, help string
	tables     uint64
	bytes      uint64 // a series, at least: states and tags
	dataset    func(workload.Spec) workload.Dataset
	types      []queryType
}

func (u useCase) Name() string { return u.name }
func (u useCase) Help() string { return u.help }

// maxScale keeps epochs × scale × tables within 64 bits for any span that
// nanoseconds can hold, and the numbers of iot's series, nine a truck, within
// 32.
const maxScale = 400_000_000

// maxMetrics keeps a batch of devops-generic within reason.
const maxMetrics = 100_000

// Settings implements workload.Workload: all are the specification's.
func (useCase) Settings() []option.Option { return nil }

// QuerySettings implements workload.Workload.
func (useCase) QuerySettings() []option.Option { return nil }

func (useCase) Check(s workload.Spec) error {
	if _, err := s.Resolve(nil); err != nil {
		return err
	}
	switch {
	case s.Scale < 1:
		return workload.Bad("scale", "must be 1 or more")
	case s.Scale > maxScale:
		return workload.Bad("scale", "%d is more than %d", s.Scale, maxScale)
	case s.MaxMetrics > maxMetrics:
		return workload.Bad("max-metric-count", "%d is more than %d", s.MaxMetrics, maxMetrics)
	case s.InitialScale > s.Scale:
		return workload.Bad("initial-scale", "%d hosts at the start are more than --scale %d; lower it, or raise --scale", s.InitialScale, s.Scale)
	case !inNanoseconds(s.Start):
		return workload.Bad("timestamp-start", "%s is outside the years 1678 to 2261 that 64-bit nanoseconds hold", s.Start.Format(time.RFC3339))
	case !inNanoseconds(s.End):
		return workload.Bad("timestamp-end", "%s is outside the years 1678 to 2261 that 64-bit nanoseconds hold", s.End.Format(time.RFC3339))
	}
	return s.CheckSpan()
}

func inNanoseconds(t time.Time) bool { return t.Year() >= 1678 && t.Year() <= 2261 }

func (u useCase) Describe(s workload.Spec) workload.Description {
	if u.Check(s) != nil {
		return workload.Description{}
	}
	sequence := uint64(max(s.InARow, 1)) // the rows of a sequence are held at once
	sequence = min(sequence, uint64(s.End.Sub(s.Start)/s.Interval)+1)
	over, bytes := bits.Mul64(uint64(s.Scale)*u.bytes, sequence)
	if over > 0 {
		bytes = math.MaxUint64
	}
	return workload.Description{Values: s.Values(), RowsAtMost: s.RowsAtMost(uint64(s.Scale) * u.tables), Memory: bytes}
}

func (u useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	if err := u.Check(s); err != nil {
		return nil, err
	}
	d := u.dataset(s)
	schema, known := d.Schema(), s.Values()
	schema.First, schema.Last, schema.Step = known.First, known.Last, known.Step
	return workload.Arrange(d, s)
}

func (u useCase) QueryTypes() []workload.QueryType {
	listed := make([]workload.QueryType, len(u.types))
	for i := range u.types {
		listed[i] = workload.QueryType{Name: u.types[i].name, Help: u.types[i].help, Core: u.types[i].core}
	}
	return listed
}

func (u useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	if _, err := s.ResolveQueries(nil); err != nil {
		return nil, err
	}
	for _, t := range u.types {
		if t.name == queryType {
			return t.draw(s, n)
		}
	}
	return nil, workload.UnknownType(u, queryType)
}
