package analysis

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// ErrContradiction is wrapped by the error about a run with a figure that differs from its
// operation log.
var ErrContradiction = errors.New("the run contradicts its operation log")

// Check computes the figures of a run from its operation logs, and compares all figures that the
// logs determine: of loads, mixed phases and query types, in each repeat. Period is the reporting
// period for the rates of loads, as in Log; negative: unknown. Unchecked is why some or all figures
// were not compared; empty: all were. An error that wraps ErrContradiction names the first figure
// that differs.
//
// Logs are untrusted. Only measurements of the run are computed, some at a time, so that memory
// stays below some 100 MiB for existing runs.
func Check(run *result.Run, logs [][]byte, period time.Duration) (unchecked string, err error) {
	if len(logs) == 0 {
		return "the export has no operation log", nil
	}
	c := checker{period: period, lost: run.LostOperations}
	if c.records, err = recordsOf(run); err != nil {
		return "", err
	}
	for _, log := range logs {
		if err := c.read(log); err != nil {
			return "", err
		}
	}
	for _, r := range c.sortRecords() {
		switch {
		case r.matched:
		case c.broken != "":
			unchecked = cmp.Or(unchecked, c.broken)
		case c.lost > 0:
			unchecked = cmp.Or(unchecked, fmt.Sprintf("the operation log lacks %d operations", c.lost))
		case r.differs != "" && !r.interrupted:
			return "", fmt.Errorf("%w: %s", ErrContradiction, r.differs)
		default:
			unchecked = cmp.Or(unchecked, "the operation log has nothing of "+r.name)
		}
	}
	return unchecked, nil
}

// record is a measurement of a run.
type record struct {
	place   int // among all
	name    string
	load    *result.Load    // nil: a query type
	queries *result.Queries // nil: a load

	matched     bool
	interrupted bool   // a measurement that differs was cut off: the one that counts is in another log
	differs     string // difference of the last measurement that was read; empty: it was in no log
}

// key identifies a record and the cells of its measurement.
type key struct {
	target, queryType string // a load has no type
	repeat            int
}

// recordsOf returns the measurements of a run with figures. A duplicate is an error, because the
// log has each once.
func recordsOf(run *result.Run) (records map[key]*record, err error) {
	records = make(map[key]*record)
	add := func(k key, r record) {
		if records[k] != nil {
			err = fmt.Errorf("%w: %s is in the run twice", ErrContradiction, r.name)
		}
		r.place = len(records)
		records[k] = &r
	}
	for i := range run.Targets {
		t := &run.Targets[i]
		for _, r := range t.MeasuredRepeats() {
			if l := r.Load; l != nil && l.Withheld == "" && l.UnsupportedReason() == "" {
				add(key{t.Name, "", r.Number}, record{name: fmt.Sprintf("load %d of %s", r.Number, t.Name), load: l})
			}
			for j := range r.Queries {
				q := &r.Queries[j]
				if q.Executed > 0 && !q.WithoutFigure() {
					add(key{t.Name, q.Type, r.Number}, record{name: fmt.Sprintf("%s of %s in round %d", q.Type, t.Name, r.Number), queries: q})
				}
			}
		}
	}
	return records, err
}

type checker struct {
	period  time.Duration
	records map[key]*record
	lost    int64
	broken  string // why a log is incomplete; empty: all are complete
}

// sortRecords lists the records in the order of the run.
func (c *checker) sortRecords() []*record {
	return slices.SortedFunc(maps.Values(c.records), func(a, b *record) int { return cmp.Compare(a.place, b.place) })
}

const (
	triesAtOnce = 32 // that are derived in one pass over a log
	mostPasses  = 64 // over a log
	// leastPlaces is the minimum number of queries whose times are kept per type, however few the
	// record has.
	leastPlaces = 1 << 12
)

// read compares the measurements in a log.
func (c *checker) read(log []byte) error {
	for pass := range mostPasses {
		more, err := c.pass(log, pass*triesAtOnce)
		if err != nil || !more {
			return err
		}
	}
	c.broken = "the operation log has too many measurements"
	return nil
}

// pass computes some of the tries of the run's measurements, starting with the given one, and
// reports whether there are more.
func (c *checker) pass(log []byte, first int) (more bool, err error) {
	reader, err := oplog.NewReader(bytes.NewReader(log))
	if err != nil {
		c.broken = "the operation log cannot be read"
		return false, nil
	}
	derived, numbers := make(map[uint32]*cell), make(map[try]int)
	var tries [triesAtOnce]struct {
		of    try
		parts map[part]*cell
	}
	seen := 0
	var op oplog.Op
	for err = reader.Next(&op); err == nil; err = reader.Next(&op) {
		for ; seen < len(reader.Cells()); seen++ {
			of := reader.Cells()[seen]
			t, p, ok := c.find(&of)
			if !ok {
				continue
			}
			number, known := numbers[t]
			if !known {
				number = len(numbers)
				numbers[t] = number
			}
			if number -= first; number < 0 || number >= triesAtOnce {
				more = more || number >= triesAtOnce
				continue
			}
			if !known {
				tries[number].of, tries[number].parts = t, make(map[part]*cell)
			}
			if parts := tries[number].parts; parts[p] == nil && !t.record.matched {
				if q := t.record.queries; q != nil {
					of.Queries = min(cmp.Or(of.Queries, math.MaxInt), max(len(q.Each)+1, leastPlaces))
				}
				parts[p] = &cell{tally.New(of, max(c.period, 0)), nil}
				derived[uint32(seen)] = parts[p]
			}
		}
		if one := derived[op.Cell]; one != nil {
			one.Add(&op)
		}
	}
	switch {
	case errors.Is(err, oplog.ErrTruncated):
		c.broken = "the operation log was cut off"
	case !errors.Is(err, io.EOF):
		c.broken = "the operation log is damaged"
	case reader.End().Truncated > 0:
		c.broken = "an operation log was cut off"
	default:
		c.lost = max(c.lost, reader.End().Lost)
	}
	for _, t := range tries {
		if len(t.parts) == 0 || t.of.record.matched {
			continue
		}
		if err := c.compare(t.of.record, t.parts); err != nil {
			return false, err
		}
	}
	return more, nil
}

// try is one try of a measurement: earlier ones were disturbed, or had other rates.
type try struct {
	record            *record
	setting, schedule string
	first             int
}

// part is a cell of a try: a load has several.
type part struct {
	kind      oplog.Kind
	part      oplog.Part
	queryType string
}

// find returns the try that a cell belongs to, if the run has its measurement.
func (c *checker) find(of *oplog.Cell) (t try, p part, ok bool) {
	p = part{of.Kind, of.Part, of.Type}
	if of.Kind == oplog.Query && of.Part == "" {
		r := c.records[key{of.Target, of.Type, of.Repeat}]
		return try{r, of.Setting, of.Schedule, of.First}, p, r != nil && r.queries != nil
	}
	r := c.records[key{of.Target, "", of.Repeat}]
	if r == nil || r.load == nil {
		return t, p, false
	}
	return try{record: r, setting: of.Setting}, p, slices.Contains(partsOf(r.load), p)
}

// partsOf lists the parts of a load.
func partsOf(l *result.Load) []part {
	parts := []part{{kind: oplog.Load}}
	if l.Growth != nil {
		for i := range l.Growth.Steps {
			parts = append(parts, part{oplog.Load, oplog.Step(i + 1), ""})
		}
	}
	if m := mixedOf(l); m != nil {
		parts = append(parts, part{oplog.Load, oplog.Mixed, ""}, part{oplog.Load, oplog.Rest, ""})
		for i := range m.Types {
			parts = append(parts, part{oplog.Query, oplog.Mixed, m.Types[i].Type})
		}
	}
	if l.Life != nil {
		for i := range l.Life.Events {
			parts = append(parts, part{oplog.Load, oplog.Event(i + 1), ""})
		}
	}
	return parts
}

// mixedOf returns the mixed phase of a load, or the base of its life; nil: it had neither.
func mixedOf(l *result.Load) *result.Mixed {
	if l.Life != nil {
		return &l.Life.Base
	}
	return l.Mixed
}

// compare compares the record with a try.
func (c *checker) compare(r *record, cells map[part]*cell) (err error) {
	d := &differences{of: r.name, rates: c.period >= 0}
	if r.load != nil {
		err = d.load(r.load, cells)
	} else {
		for _, one := range cells {
			err = d.queries(r.queries, one)
		}
	}
	r.matched, r.differs = d.first == "", d.first
	for _, one := range cells {
		r.interrupted = r.interrupted || one.Outcomes[oplog.Interrupted] > 0
	}
	return err
}

// differences keeps the first difference.
type differences struct {
	of, first string
	rates     bool // rates of loads are compared
}

// figure compares a figure.
func (d *differences) figure(name string, stored, derived any) {
	if d.first == "" && !reflect.DeepEqual(stored, derived) {
		d.first = fmt.Sprintf("%s of %s is %s in the run, %s in the log", name, d.of, figureText(stored), figureText(derived))
	}
}

// figureText formats a figure on one line.
func figureText(figure any) string {
	const most = 40
	text := fmt.Sprint(figure)
	if v := reflect.ValueOf(figure); v.Kind() == reflect.Slice {
		text = fmt.Sprintf("%d figures", v.Len())
	}
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}

// figures compares the fields of two structs that are numbers or lists of numbers, by their names
// in a document, except the given ones.
func (d *differences) figures(stored, derived any, but ...string) {
	was, is := reflect.ValueOf(stored).Elem(), reflect.ValueOf(derived).Elem()
	for i := range was.NumField() {
		name, _, _ := strings.Cut(was.Type().Field(i).Tag.Get("json"), ",")
		kind := was.Field(i).Kind()
		list := kind == reflect.Slice && was.Field(i).Type().Elem().Kind() == reflect.Float64
		if was.Field(i).CanInt() || was.Field(i).CanFloat() || list {
			if !slices.Contains(but, name) {
				d.list(name, was.Field(i), is.Field(i))
			}
		}
	}
}

// list compares a field; for lists it names the first element that differs.
func (d *differences) list(name string, stored, derived reflect.Value) {
	if stored.Kind() == reflect.Slice && stored.Len() == derived.Len() {
		for i := range stored.Len() {
			d.figure(fmt.Sprintf("%s[%d]", name, i), stored.Index(i).Interface(), derived.Index(i).Interface())
		}
		return
	}
	d.figure(name, stored.Interface(), derived.Interface())
}

// latency compares a histogram and its figures.
func (d *differences) latency(name string, stored, derived *result.Latency) {
	if stored == nil || derived == nil {
		d.figure(name, stored != nil, derived != nil)
		return
	}
	of := d.of
	d.of = name + " of " + of
	d.figures(&stored.Summary, &derived.Summary)
	d.figure("histogram", stored.Histogram, derived.Histogram)
	d.of = of
}

// queries compares a query type in a repeat.
func (d *differences) queries(q *result.Queries, c *cell) error {
	derived, err := result.QueriesOf(c.Tally)
	if err != nil {
		return err
	}
	but := []string{"distinct", "timeout", "time_box"}
	if q.Open != nil && !q.Open.EachResponse { // the log gives response times
		but = append(but, "each")
	}
	d.figures(q, &derived, but...)
	d.latency("service", &q.Service, &derived.Service)
	d.figure("failed queries", int64(0), c.Outcomes[oplog.Failed]+c.Outcomes[oplog.Wrong])
	if (q.Open != nil) != (derived.Open != nil) {
		d.figure("open loop", q.Open != nil, derived.Open != nil)
	}
	if q.Open != nil && derived.Open != nil {
		d.figures(q.Open, derived.Open, "queue", "waiting", "saturated")
		d.figure("schedule", q.Open.Schedule, derived.Open.Schedule)
		d.latency("response", &q.Open.Response, &derived.Open.Response)
		d.latency("lag", &q.Open.Lag, &derived.Open.Lag)
	}
	return nil
}

// load compares a load with its steps and its mixed phase.
func (d *differences) load(l *result.Load, cells map[part]*cell) error {
	of := func(kind oplog.Kind, of oplog.Part, queryType string) *cell {
		if one := cells[part{kind, of, queryType}]; one != nil {
			return one
		}
		return &cell{tally.New(oplog.Cell{Kind: kind, Part: of, Type: queryType}, 0), nil}
	}
	first := of(oplog.Load, "", "")
	derived, err := result.LoadOf(first.Tally)
	if err != nil {
		return err
	}
	failed := first.Outcomes[oplog.Failed]
	if l.Growth != nil {
		for i := range l.Growth.Steps {
			next := &derived
			if i > 0 {
				step := of(oplog.Load, oplog.Step(i+1), "")
				failed += step.Outcomes[oplog.Failed]
				further, err := result.LoadOf(step.Tally)
				if err != nil {
					return err
				}
				next = &further
			}
			stored := l.Growth.Steps[i]
			next.Settled = stored.Settled
			d.figures(&stored, &result.GrowthStep{Rows: next.Rows, Sent: next.Sent, Acked: next.Acked, Settled: next.Settled,
				Median: next.Batches.Median, Slowest: next.Batches.Max})
			if i > 0 {
				if err := derived.Extend(next); err != nil {
					return err
				}
			}
		}
	}
	d.loadOperations(l, &derived, failed)
	m, written := mixedOf(l), of(oplog.Load, oplog.Mixed, "")
	if m == nil {
		return nil
	}
	writes, err := result.LoadOf(written.Tally)
	if err != nil {
		return err
	}
	name := d.of
	d.of, d.rates = "the mixed phase of "+name, d.rates && l.Life == nil // which has a period of its own
	writes.Retries = m.Writes.Retries                                    // includes those of the rest
	d.loadOperations(&m.Writes, &writes, written.Outcomes[oplog.Failed])
	d.figure("rest", m.Rest, of(oplog.Load, oplog.Rest, "").Rows)
	if m.Response != nil && written.Response != nil {
		response, err := result.LatencyOf(written.Response)
		if err != nil {
			return err
		}
		d.latency("response", m.Response, &response)
	}
	last := written.Span.Last
	for i := range m.Types {
		last = max(last, of(oplog.Query, oplog.Mixed, m.Types[i].Type).Span.Last)
	}
	d.roughFigure("wall", m.Wall, (last - written.Span.First).Seconds())
	unanswered := int64(0)
	for i := range m.Types {
		t := &m.Types[i]
		outcomes := &of(oplog.Query, oplog.Mixed, t.Type).Outcomes
		if l.Life != nil && t.Unsupported == "" { // Life.Failed includes types with wrong answers
			unanswered += outcomes[oplog.Failed] + outcomes[oplog.AtLeast]
		}
		if !t.WithoutFigure() {
			if l.Life == nil {
				unanswered += outcomes[oplog.Failed]
			}
			d.of = fmt.Sprintf("%s in the mixed phase of %s", t.Type, name)
			if err := d.mixedType(t, of(oplog.Query, oplog.Mixed, t.Type), m.Wall); err != nil {
				return err
			}
		}
	}
	if d.of = name; l.Life == nil {
		d.figure("failed queries", int64(0), unanswered)
		return nil
	}
	d.figure("failed queries", l.Life.Failed, unanswered)
	for i := range l.Life.Events {
		e := &l.Life.Events[i]
		if one := cells[part{oplog.Load, oplog.Event(i + 1), ""}]; one != nil && e.HasFigure() { // some systems correct without a writer
			d.figure(fmt.Sprintf("rows of event %d", i+1), e.Rows, one.Rows)
		}
	}
	return nil
}

// loadOperations compares the figures that the operations of a load determine.
func (d *differences) loadOperations(l, derived *result.Load, failed int64) {
	d.figures(l, derived, "batch_size", "prepare", "settled", "disk_bytes", "disk_before", "disk_settled", "skipped")
	d.latency("batches", &l.Batches, &derived.Batches)
	d.figure("failed batches", int64(0), failed)
	if d.rates {
		d.figure("rates", len(l.Rates), len(derived.Rates))
	}
	for i := 0; d.rates && i < min(len(l.Rates), len(derived.Rates)); i++ {
		d.figure(fmt.Sprintf("rates[%d].at", i), l.Rates[i].At, derived.Rates[i].At)
		d.figure(fmt.Sprintf("rates[%d].rows", i), l.Rates[i].Rows, derived.Rates[i].Rows)
	}
	tries := func(r *result.Retries) (tries, values int64) {
		if r != nil {
			return r.Tries, r.Values
		}
		return 0, 0
	}
	stored, values := tries(l.Retries)
	is, of := tries(derived.Retries)
	d.figure("retries", stored, is)
	d.figure("values of retries", values, of)
	if least := max(derived.Sent, derived.Acked); l.Settled < least*(1-negligible) {
		d.figure("settled", l.Settled, fmt.Sprintf("at least %v", least))
	}
}

// mixedType compares the figures of a type in a mixed phase.
func (d *differences) mixedType(t *result.MixedType, c *cell, wall float64) error {
	derived, err := result.QueriesOf(c.Tally)
	if err != nil {
		return err
	}
	is := result.MixedType{Executed: derived.Executed, AtLeast: derived.AtLeast, Rows: derived.Rows, Bytes: derived.Bytes,
		Values: derived.Values, Accumulated: derived.Accumulated}
	d.figures(t, &is, "per_second", "wanted", "counted", "stale", "in_parts", "unmatched", "unexamined")
	d.latency("service", &t.Service, &derived.Service)
	if t.Response != nil && derived.Open != nil {
		d.latency("response", t.Response, &derived.Open.Response)
	}
	if wall > 0 {
		d.roughFigure("per_second", t.PerSecond, float64(derived.Executed)/wall)
	}
	return nil
}

// negligible is the tolerated relative difference between figures of two clocks with the same
// start.
const negligible = 1e-3

// roughFigure compares a figure that may differ from the log's by a different start.
func (d *differences) roughFigure(name string, stored, derived float64) {
	if math.Abs(stored-derived) > negligible*math.Abs(derived) {
		d.figure(name, stored, derived)
	}
}
