package cassandra

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
)

// plan is a request: its statements, and how their results are merged. It is the Plan of a
// driver.Request, whose text has a line of JSON, the prepared statement that reads the registry, and
// the prepared statement for each partition, or, in the narrow layout, for the partitions of each
// field.
type plan struct {
	Registry  string `json:"-"`
	Partition string `json:"-"`

	// Statements says how many statements the request has.
	Statements string `json:"statements"`
	// Values are the parameters of statements on the registry, one statement for each value; nil: one
	// statement without a parameter.
	Values []string `json:"values,omitempty"`
	// Numbers are the accepted values of the tag at index Number in the registry; nil: any value.
	Numbers []float64 `json:"numbers,omitempty"`
	Number  int       `json:"number,omitempty"`
	// Present are the tags in the registry without which a series does not count.
	Present []int `json:"present,omitempty"`

	// The window, in milliseconds; nil: no bound.
	Start  *int64  `json:"start,omitempty"`
	End    *int64  `json:"end,omitempty"`
	Filter []bound `json:"above,omitempty"` // of the value filter, whose parameters follow the window
	Span   int64   `json:"span"`            // of a partition, in milliseconds

	Narrow *narrowPlan `json:"narrow,omitempty"` // nil: the layout is wide

	// Plan says how the rows of partitions are processed.
	fold.Plan
}

// bound is a numeric argument in the type of its column.
type bound struct {
	Int    *int64   `json:"int,omitempty"`
	Int32  *int32   `json:"int32,omitempty"`
	Float  *float64 `json:"double,omitempty"`
	Single *float32 `json:"float,omitempty"`
}

func (b bound) value() any {
	switch {
	case b.Int != nil:
		return *b.Int
	case b.Int32 != nil:
		return *b.Int32
	case b.Single != nil:
		return *b.Single
	}
	return *b.Float
}

// request returns a copy of the plan as a request. A request thus does not hold the memory of the
// renderer.
func (p plan) request() (driver.Request, error) {
	head, err := json.Marshal(p)
	return driver.Request{Text: string(head) + "\n" + p.Registry + "\n" + p.Partition, Plan: &p}, err
}

// partition is a partition to read.
type partition struct {
	series int64
	bucket int64 // in milliseconds
	tags   []query.Value
}

// args returns the arguments of the statement for a partition.
func (p *plan) args(at *partition) []any {
	args := []any{int32(at.series), at.bucket}
	for _, t := range []*int64{p.Start, p.End} {
		if t != nil {
			args = append(args, *t)
		}
	}
	for _, b := range p.Filter {
		args = append(args, b.value())
	}
	return args
}

// registryArgs returns the arguments of the statement for the registry.
func (p *plan) registryArgs(value *string) []any {
	var args []any
	if value != nil {
		args = append(args, *value)
	}
	floor := func(t int64) int64 { return query.BucketOf(t, time.Duration(p.Span)) }
	if p.Start != nil {
		args = append(args, floor(*p.Start))
	}
	if p.End != nil {
		args = append(args, floor(*p.End-1))
	}
	return args
}

// wants reports whether the query includes a series of the registry.
func (p *plan) wants(tags []query.Value) bool {
	for _, i := range p.Present {
		if tags[i].Kind == query.Null {
			return false
		}
	}
	return p.Numbers == nil || tags[p.Number].Kind == query.Float && slices.Contains(p.Numbers, tags[p.Number].Float)
}

// milliseconds rounds a time up to the precision of rows.
func milliseconds(t time.Time) int64 {
	ns := t.UnixNano()
	ms := ns / int64(time.Millisecond)
	if ns > ms*int64(time.Millisecond) {
		ms++
	}
	return ms
}

// floor32 is the greatest single that is not greater than a number.
func floor32(v float64) float32 {
	single := float32(v)
	if float64(single) > v {
		single = math.Nextafter32(single, float32(math.Inf(-1)))
	}
	return single
}
