// Package matrix derives from a run the matrices that IoTDB-Benchmark prints at the end of a
// test: its result matrix and its latency matrix, an operation a line; and the
// middle-average and the throughput of its paper (Liu and Yuan, "Benchmarking
// time series databases with IoTDB-Benchmark for IoT scenarios", 2019; "the
// paper"). "The tool" is thulab/iot-benchmark at 4e8f44d1. Times are seconds;
// the tool prints milliseconds.
package matrix

import (
	"cmp"

	"github.com/tsmark/tsmark/result"
)

// Matrices are the two matrices of one target.
type Matrices struct {
	Target string `json:"target"`
	// StandIn is as driver.Description has it.
	StandIn string `json:"stand_in,omitempty"`
	// Mixed says that all operations went on at once, as the tool has them;
	// else they came one after the other, each by itself.
	Mixed bool `json:"mixed"`
	// SchemaCost is the time for creating tables. It is absent if nothing was loaded
	// before.
	SchemaCost result.Value `json:"schema_cost"`
	// Elapsed is the wall-clock time of all operations, whether one after the other
	// or concurrent.
	Elapsed    result.Value `json:"elapsed"`
	Operations []Operation  `json:"operations"` // writes first, then the query types in the order run
}

// Operation is the line of an operation in both matrices. A figure that was not
// recorded is absent, and a reason makes all of them absent.
type Operation struct {
	Name string `json:"operation"`      // as the tool has it; else the query type
	Type string `json:"type,omitempty"` // the query type; empty: writes

	// Reasons for missing figures; empty: there are figures.
	Unsupported string `json:"unsupported,omitempty"` // nothing was run: no failure
	Withheld    string `json:"withheld,omitempty"`
	Failure     string `json:"failure,omitempty"` // "failed: …", or "> 1 min: …" of a query that had no answer in time
	NotRun      bool   `json:"not_run,omitempty"`
	// Unverified is why rows and answers were not checked; empty: they were correct.
	Unverified string `json:"unverified,omitempty"`

	OK result.Value `json:"ok_operation"` // batches acknowledged, or queries answered
	// OKPoints are the values of these: of batches the values that are not NULL, of
	// answers rows times the values requested in each.
	OKPoints result.Value `json:"ok_point"`
	// Failed operations are queries that were cut off by the time limit, and
	// tries of batches that failed and were followed by another one. They are
	// not part of latencies. Any other failure ends the load or the type. In a mixed
	// phase they include the tries of batches loaded after it.
	Failed       result.Value `json:"fail_operation"`
	FailedPoints result.Value `json:"fail_point"` // the values of the batches of these tries

	Elapsed result.Value `json:"elapsed"` // by wall clock, from the first operation to the last acknowledgement or answer
	// Throughput is OKPoints by Elapsed, CostThroughput by the time that the
	// slowest client accumulated, which is Latency.SlowestThread: the paper's
	// throughput. Clients that never wait accumulate all of Elapsed.
	Throughput     result.Value `json:"throughput"`
	CostThroughput result.Value `json:"cost_time_throughput"`

	Latency Latency `json:"latency"`
}

// List returns the matrices of all targets of a run, in their order: of the sequential
// phases, and of the mixed phase if there is one.
func List(r *result.Run) []Matrices {
	var list []Matrices
	for i := range r.Targets {
		t := &r.Targets[i]
		if m := sequentialMatrices(t); len(m.Operations) > 0 {
			list = append(list, m)
		}
		if t.Load != nil && t.Load.Mixed != nil {
			list = append(list, mixedMatrices(t))
		}
	}
	return list
}

// sequentialMatrices returns the operations that came one after the other.
func sequentialMatrices(t *result.Target) Matrices {
	m := Matrices{Target: t.Name, StandIn: t.Description.StandIn, SchemaCost: result.Absent()}
	if l := t.Load; l != nil {
		m.SchemaCost = result.Value(l.Prepare)
		// With a mixed phase, the load is the part before it, which may be empty.
		if l.Mixed == nil || l.Rows > 0 {
			m.Operations = append(m.Operations, ingestion(l, cmp.Or(l.Acked, l.Sent)))
		}
	}
	for i := range t.Queries {
		m.Operations = append(m.Operations, queries(&t.Queries[i]))
	}
	for i := range m.Operations {
		if o := &m.Operations[i]; o.Elapsed.IsKnown() {
			m.Elapsed += o.Elapsed
		}
	}
	return m
}

// mixedMatrices returns the operations of a mixed phase.
func mixedMatrices(t *result.Target) Matrices {
	phase := t.Load.Mixed
	m := Matrices{Target: t.Name, StandIn: t.Description.StandIn, Mixed: true, SchemaCost: result.Value(t.Load.Prepare), Elapsed: result.Value(phase.Wall)}
	writes := phase.Writes
	writes.Withheld = cmp.Or(writes.Withheld, t.Load.Reason())
	writes.Unverified = cmp.Or(writes.Unverified, t.Load.Unverified)
	m.Operations = append(m.Operations, ingestion(&writes, phase.Wall))
	for i := range phase.Types {
		m.Operations = append(m.Operations, mixedType(&phase.Types[i], phase.Wall, t.Load.Withheld))
	}
	return m
}

// Reason returns the reason for missing figures in words, or "".
func (o *Operation) Reason() string {
	switch {
	case o.Unsupported != "":
		return "n/a: " + o.Unsupported
	case o.Withheld != "":
		return "withheld: " + o.Withheld
	case o.Failure != "":
		return o.Failure
	case o.NotRun:
		return "not run"
	}
	return ""
}
