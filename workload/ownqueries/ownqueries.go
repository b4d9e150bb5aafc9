package ownqueries

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// AddQueries returns the workload with the declared query types after its own, each a core type.
// The declarations must have passed Check with the names of its types. The result implements the
// same optional interfaces as w.
func AddQueries(w workload.Workload, list []Query) workload.Workload {
	if len(list) == 0 {
		return w
	}
	own := &extended{Workload: w, list: list}
	if texted, ok := w.(workload.Texted); ok {
		return extendedTexted{own, texted}
	}
	return own
}

// extended is a workload with declared query types.
type extended struct {
	workload.Workload
	list []Query

	mu     sync.Mutex
	of     string         // fingerprint of the dataset whose schema is kept
	schema *series.Schema // since a dataset of many series takes a while to make
}

// extendedTexted is an extended workload with query texts from another benchmark for its built-in
// types.
type extendedTexted struct {
	*extended
	texted workload.Texted
}

// Texts implements workload.Texted.
func (e extendedTexted) Texts(format string, spec workload.Spec, queryType string, n int) (iter.Seq[string], error) {
	if e.find(queryType) != nil {
		return nil, fmt.Errorf("%w: %s is a query type of this experiment, for which TSBS has no text", query.ErrUnsupported, queryType)
	}
	return e.texted.Texts(format, spec, queryType, n)
}

// QueryTypes implements workload.Workload.
func (e *extended) QueryTypes() []workload.QueryType {
	types := slices.Clip(e.Workload.QueryTypes())
	for i := range e.list {
		types = append(types, workload.QueryType{Name: e.list[i].Name, Help: e.list[i].Help, Core: true})
	}
	return types
}

// find returns the declaration of a query type; nil: it is the workload's.
func (e *extended) find(name string) *Query {
	for i := range e.list {
		if e.list[i].Name == name {
			return &e.list[i]
		}
	}
	return nil
}

// schemaOf returns the schema of the dataset.
func (e *extended) schemaOf(spec workload.Spec) (*series.Schema, error) {
	of := workload.Fingerprint(e.Workload, spec)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schema == nil || e.of != of {
		d, err := e.Workload.Dataset(spec)
		if err != nil {
			return nil, err
		}
		e.schema, e.of = d.Schema(), of
	}
	return e.schema, nil
}

// Queries implements workload.Workload. Each type is drawn from a stream of its own,
// which begins with the seed of queries and the type's name; windows are cut to
// microseconds.
func (e *extended) Queries(spec workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	q := e.find(queryType)
	if q == nil {
		return e.Workload.Queries(spec, queryType, n)
	}
	schema, err := e.schemaOf(spec)
	if err != nil {
		return nil, err
	}
	d := drawing{q: q, table: tableOf(schema, q.Table), schema: schema, texts: q.identity(), seed: spec.DrawingSeed()}
	if d.table == nil {
		return nil, fmt.Errorf("query type %s: the dataset has no table %q", q.Name, q.Table)
	}
	d.first, d.room = spec.Start, spec.End.Sub(spec.Start)-q.Window
	if d.room < 0 {
		return nil, workload.Bad("timestamp-end", "%s has windows of %s but the dataset spans %s; lengthen it, or leave the type out",
			q.Name, q.Window, spec.End.Sub(spec.Start))
	}
	return d.queries(n), nil
}

// drawing draws the queries of a declaration.
type drawing struct {
	q      *Query
	table  *series.Table
	schema *series.Schema
	texts  string // identity
	seed   int64
	first  time.Time     // where the first window may begin
	room   time.Duration // and how much later the last one may
}

func (d *drawing) queries(n int) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		r := newRandom(d.seed, d.q.Name)
		var one query.Query // one variable for all queries, since it escapes to the heap
		for i := range n {
			one = d.draw(r)
			one.ID = i
			if !yield(one) {
				return
			}
		}
	}
}

// draw draws a query.
func (d *drawing) draw(r *random) query.Query {
	q := d.q
	switch {
	case q.IsText():
		return d.text(r)
	case q.Shape == promql:
		return d.expression(r)
	}
	one := makeQuery(q, d.table, func(values Choices) float64 {
		v, _ := strconv.ParseFloat(values[r.intBelow(uint64(len(values)))], 64) // Check has read them all
		return v
	})
	d.window(&one, r)
	if q.Where.isSet() {
		one.In = &query.TagIn{Key: q.Where.Tag, Values: d.values(r)}
	}
	return one
}

// window draws the window of a query.
func (d *drawing) window(one *query.Query, r *random) {
	if q := d.q; q.Window > 0 {
		one.Start = d.first.Add(time.Duration(r.intBelow(uint64(d.room) + 1))).UTC().Truncate(time.Microsecond)
		one.End = one.Start.Add(q.Window)
		if q.NoStart {
			one.Start = time.Time{}
		}
	} else if q.Shape == promql {
		one.End = d.first.Add(d.room).UTC()
	}
}

// makeQuery returns a query of the declaration about a table, with values that were picked
// but neither window nor values of a tag.
func makeQuery(q *Query, t *series.Table, pick func(Choices) float64) query.Query {
	one := query.Query{Type: q.Name, Table: t.Name, Present: q.Present, Shape: q.shape(pick)}
	if q.Above.isSet() {
		one.Filter = &query.ValueFilter{Field: q.Above.Field, Value: pick(q.Above.Value), And: q.Above.And}
	}
	return one
}

// values draws different values of the tag of the filter.
func (d *drawing) values(r *random) []string {
	w := &d.q.Where
	switch {
	case w.Draw == 0:
		return w.Values
	case len(w.Values) > 0:
		return r.pickSome(w.Values, w.Draw)
	}
	return d.ofSeries(r, d.table, w.Tag, w.Draw)
}

// triesPerValue bounds how often a series is drawn for a value that no series before
// had, where most series share a few values.
const triesPerValue = 100

// ofSeries draws series of a table and returns the first n different values of a tag that they have.
// The tag has enough values.
func (d *drawing) ofSeries(r *random, t *series.Table, key string, n int) []string {
	tag, span := t.Tag(key), d.schema.Range(t)
	count := uint64(span.End - span.First)
	var list []string
	var text []byte
	seen := make(map[string]bool, n)
	take := func(s uint64) {
		value, ok := tag.Values.Append(text[:0], span.First+uint32(s))
		if text = value; ok && !seen[string(value)] {
			list = append(list, string(value))
			seen[list[len(list)-1]] = true
		}
	}
	for tries := 0; len(list) < n && tries < n*triesPerValue; tries++ {
		take(r.intBelow(count))
	}
	// The remaining values are those of the series after a random one.
	from := r.intBelow(count)
	for i := uint64(0); len(list) < n && i < count; i++ {
		take((from + i) % count)
	}
	return list
}

// random is a stream of random numbers, the same for ever.
type random struct{ pcg *rand.PCG }

func newRandom(seed int64, name string) *random {
	return &random{rand.NewPCG(uint64(seed), xxhash.Sum64(binary.LittleEndian.AppendUint64([]byte(name), uint64(seed))))}
}

// intBelow returns a number from 0 to below n, which is at least 1.
func (r *random) intBelow(n uint64) uint64 {
	high, _ := bits.Mul64(r.pcg.Uint64(), n)
	return high
}

// pickSome returns n different ones of the values, in the order of their drawing.
func (r *random) pickSome(values []string, n int) []string {
	left := append([]string(nil), values...)
	for i := range n {
		j := i + int(r.intBelow(uint64(len(left)-i)))
		left[i], left[j] = left[j], left[i]
	}
	return left[:n]
}
