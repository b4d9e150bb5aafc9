// Package promql computes the expected answers of PromQL expressions from the samples of a dataset.
// Prometheus's own engine defines them. An implementation of tsmark's own checks it where it can, and
// the documented semantics of other systems are computed as alternatives.
package promql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Alternative is an answer that differs from Prometheus's and that a system documents.
type Alternative struct {
	Semantics string // of driver.Driver
	Reason    string // what the system documents
	Answer    *query.Answer
}

// Set answers queries whose shape is query.PromQL. It keeps the samples that their selectors need: 16
// bytes each, and more for native histograms.
type Set struct {
	// Semantics are those by which Answer computes alternatives; nil: all.
	Semantics []string

	schema  *series.Schema
	queries []prepared
	store   *store
	engine  *promql.Engine
	checked int // times of an answer that tsmark's own implementation checks
}

// defaultChecked is enough to find a defect, and costs a small part of the evaluation.
const defaultChecked = 5

// prepared is a query and its parsed expression.
type prepared struct {
	query *query.Query
	shape query.PromQL
	text  string // of the expression; it is parsed again for each evaluation, which changes the tree
	first int64  // of the answer's times, in milliseconds, with last and step
	last  int64
	step  int64
	from  int64 // of the times that are evaluated, with to: usually first and last
	to    int64
	needs []need
}

// New parses the queries. Its error names an expression that is not PromQL.
func New(s *series.Schema, queries []*query.Query) (*Set, error) {
	set := &Set{schema: s, store: newStore(), engine: newEngine(), checked: defaultChecked}
	for _, q := range queries {
		shape, _ := q.AsPromQL()
		if err := q.Check(s.Table(q.Table)); err != nil {
			return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
		}
		p := prepared{query: q, shape: shape, text: shape.Expr}
		p.first, p.last, p.step = shape.Steps(q)
		p.from, p.to = p.first, p.last
		expr, err := parse(p.text)
		if err != nil {
			return nil, fmt.Errorf("query %s %d: %s is not PromQL: %w", q.Type, q.ID, p.text, err)
		}
		if pin(expr, p.first, p.last) {
			p.text = expr.String()
		}
		before := len(set.store.needs)
		set.store.need(expr, span{p.first, p.last}, p.evaluationStep())
		p.needs = slices.Clone(set.store.needs[before:])
		set.queries = append(set.queries, p)
	}
	return set, nil
}

// pin replaces the modifiers @ start() and @ end() by times, so that the expression means the same at a part
// of the query's times, and reports whether there are any.
func pin(expr parser.Expr, first, last int64) (changed bool) {
	replace := func(timestamp **int64, startOrEnd *parser.ItemType) {
		switch *startOrEnd {
		case parser.START:
			*timestamp = &first
		case parser.END:
			*timestamp = &last
		default:
			return
		}
		*startOrEnd, changed = 0, true
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			replace(&n.Timestamp, &n.StartOrEnd)
		case *parser.SubqueryExpr:
			replace(&n.Timestamp, &n.StartOrEnd)
		}
		return nil
	})
	return changed
}

// parse parses an expression as Prometheus does without experimental features.
func parse(text string) (parser.Expr, error) {
	return parser.NewParser(parser.Options{}).ParseExpr(text)
}

// Check returns an error unless a text is PromQL.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// times returns times of the answer, at most n, evenly spread from the first to the last one.
func (p *prepared) times(n int) []int64 {
	steps := (p.last - p.first) / p.step
	count := min(int64(n), steps+1)
	list := make([]int64, count)
	for i := range list {
		list[i] = p.first + steps*int64(i)/max(count-1, 1)*p.step
	}
	return list
}

// evaluationStep returns the step in milliseconds that VictoriaMetrics uses: 5 minutes for an instant
// query.
func (p *prepared) evaluationStep() int64 {
	if p.first == p.last { // drivers send a range of one step as an instant query
		return query.Lookback.Milliseconds()
	}
	return p.step
}

// Add takes the samples of a run that expressions read.
func (s *Set) Add(run *series.Run) { s.store.add(run, notRecorded) }

// Finish is called after Add and before Answer.
func (s *Set) Finish() { s.store.finish() }

// Len returns the number of queries.
func (s *Set) Len() int { return len(s.queries) }

// Answer returns the answer to the i-th query, and documented alternatives that differ from it. It
// may be called concurrently, after Finish. An error says that Prometheus refuses the expression for
// these samples, or that tsmark's own implementation computes another answer.
func (s *Set) Answer(ctx context.Context, i int) (*query.Answer, []Alternative, error) {
	p := &s.queries[i]
	answer, err := s.answer(ctx, p)
	if err != nil {
		return nil, nil, fmt.Errorf("query %s %d: %s: %w", p.query.Type, p.query.ID, p.text, err)
	}
	var also []Alternative
	for _, by := range s.systems() {
		if s.Semantics != nil && !slices.Contains(s.Semantics, by.semantics) {
			continue
		}
		other, err := by.answer(ctx, p)
		switch {
		case errors.Is(err, errNoAlternative):
		case err != nil:
			return nil, nil, fmt.Errorf("query %s %d by the rules of %s: %s: %w", p.query.Type, p.query.ID, by.semantics, p.text, err)
		case s.differs(p, answer, other) != nil:
			also = append(also, Alternative{by.semantics, by.reason, other})
		}
	}
	return answer, also, nil
}

// system computes answers by the semantics that a system documents.
type system struct {
	semantics, reason string
	answer            func(context.Context, *prepared) (*query.Answer, error) // may return errNoAlternative
}

func (s *Set) systems() []system {
	return []system{{VictoriaMetrics, victoriaMetricsReason, s.victoriaMetrics}, {Thanos, thanosReason, s.thanos}}
}

// differs returns the first difference between two answers to a query.
func (s *Set) differs(p *prepared, a, b *query.Answer) *query.Difference {
	return query.Compare(p.query, p.query.Columns(s.schema.Table(p.query.Table)), a, b)
}

func (s *Set) answer(ctx context.Context, p *prepared) (*query.Answer, error) {
	matrix, err := s.evaluate(ctx, s.store, p.text, p.from, p.to, p.step, query.Lookback)
	if err != nil {
		return nil, err
	}
	answer, err := s.rows(p, matrix)
	if err != nil {
		return nil, err
	}
	times := p.times(s.checked)
	own, ok := s.computeOwn(p, times)
	if !ok {
		return answer, nil
	}
	ours, err := s.rows(p, own)
	if err != nil {
		return nil, err
	}
	part := &query.Answer{}
	for _, row := range answer.Rows {
		if _, isChecked := slices.BinarySearch(times, row[0].Int/int64(time.Millisecond)); isChecked {
			part.Rows = append(part.Rows, row)
		}
	}
	if d := s.differs(p, part, ours); d != nil {
		return nil, fmt.Errorf("the engine of Prometheus and tsmark's own implementation compute different answers, so one of them has a defect: %s", d)
	}
	return answer, nil
}

// newEngine returns Prometheus's engine with its default settings, but for limits.
func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: math.MaxInt32, Timeout: 24 * time.Hour, LookbackDelta: query.Lookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
		EnableAtModifier:         true, EnableNegativeOffset: true,
		Parser: parser.NewParser(parser.Options{}),
	})
}

// evaluate runs an expression on a storage at each step. An instant query is a range query of one
// step: PromQL defines both alike.
func (s *Set) evaluate(ctx context.Context, from storage.Queryable, text string, first, last, step int64, lookback time.Duration) (promql.Matrix, error) {
	options := promql.NewPrometheusQueryOpts(false, lookback, nil)
	q, err := s.engine.NewRangeQuery(ctx, from, options, text, time.UnixMilli(first), time.UnixMilli(last), time.Duration(step)*time.Millisecond)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	matrix, err := result.Matrix()
	if err != nil {
		return nil, err
	}
	out := make(promql.Matrix, len(matrix)) // Close returns the samples to a pool
	for i, of := range matrix {
		if len(of.Histograms) > 0 {
			return nil, fmt.Errorf("%w: its answer is native histograms; take numbers of them", query.ErrUnsupported)
		}
		out[i] = promql.Series{Metric: of.Metric, Floats: append([]promql.FPoint(nil), of.Floats...)}
	}
	return out, nil
}

// rows returns an answer's rows. Over takes each label it names, and all others must be absent but
// for the name.
func (s *Set) rows(p *prepared, matrix promql.Matrix) (*query.Answer, error) {
	var names []string
	if p.shape.Over != nil {
		names = p.shape.Over.Labels(s.schema.Table(p.query.Table))
	}
	answer := &query.Answer{}
	for _, of := range matrix {
		keys := []query.Value{{Kind: query.Text, Text: []byte(labelSet(of.Metric))}}
		if p.shape.Over != nil {
			keys = keys[:0]
			for _, name := range names {
				value := query.Value{}
				if text := of.Metric.Get(name); text != "" {
					value = query.Value{Kind: query.Text, Text: []byte(text)}
				}
				keys = append(keys, value)
			}
		}
		for _, at := range of.Floats {
			row := append([]query.Value{{Kind: query.Time, Int: at.T * int64(time.Millisecond)}}, keys...)
			answer.Rows = append(answer.Rows, append(row, query.Value{Kind: query.Float, Float: at.F}))
		}
	}
	return answer, nil
}
