// Package figure lists the figures of runs, with their units and meaning, and writes them as CSV.
package figure

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/agents"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// csvLine is a line of the CSV, with the parts of a run that it covers: those of a load,
// a step of it, a query type, all query types together, the writes of a mixed phase, or a
// query type in it. Parts with withheld figures are left out.
type csvLine struct {
	kind        string
	run         *result.Run
	target      *result.Target
	name        string // query type, or the subject of a load or phase
	verdict     string
	withheld    string
	failed      *result.Failure
	unsupported string
	clientBound string
	noisy       string
	rate        any // in the column where its estimate belongs, or median
	median      any
	against     string
	comparison  string
	parts       []any
}

// Parts that are more than their type says.
type (
	csvLoad     struct{ *result.Load } // not the writes of a mixed phase
	csvLoaded   struct{ *result.Load } // likewise, with figures
	csvStored   struct{ *result.Load } // of both, with figures
	csvSampled  struct{ *result.Queries }
	csvRan      struct{ *result.Queries }
	csvPhase    struct{ *result.Mixed } // not a type in it
	csvDone     struct{ *result.Mixed } // likewise, with figures
	csvAnswered struct{ *result.MixedType }
	csvFresh    struct{ *result.MixedType } // with stale answers
	csvCount    struct{ *result.Latency }
	csvTimed    struct{ *result.Latency } // with at least one time
	csvResponse struct{ *result.Latency }
	csvLag      struct{ *result.Latency }
	csvRatio    struct{ *stats.Interval }
	csvRounds   int
	csvCommon   int
	csvTypes    int
	csvQueriers int
	csvSwept    struct{ *result.Run }
	csvMemory   float64 // per series, in bytes
	csvEvent    struct{ *result.LifeEvent }
	csvBacklog  struct{ *result.LifeEvent } // where it is known
	csvCrashes  struct{ *estimate.Crashes }
	csvUnjudged int // crashes
	csvStopped  string
	// csvAggregate is an aggregate, with medians over the loads.
	csvAggregate struct {
		*result.Aggregate
		seconds, rate, fresh any
	}
	// csvStep is a step of a load whose rows bring columns, with medians over the loads
	// and the time of a row as a multiple of that in the first step.
	csvStep struct {
		*result.GrowthStep
		number         int // from 1
		acked, slowest any
		cost           stats.Comparison
	}
	// csvAgent is one agent's part of a measurement.
	csvAgent struct {
		*agents.Use
		who         *result.Agent // nil: the run does not have it
		measurement string
	}
	csvFromRows struct {
		aggregate string
		stats.Comparison
	}
)

func (l *csvLine) add(parts ...any) { l.parts = append(l.parts, parts...) }

// addLatency adds latencies as columns count to max have them.
func (l *csvLine) addLatency(s *result.Latency) {
	if l.add(csvCount{s}); s.Count > 0 {
		l.add(csvTimed{s})
	}
}

// WriteCSV writes a line per load, kind of crash, step of a load, mixed phase, event of a life and query type, and one of each
// target for all types together if targets are compared. One kind of line
// leaves the columns of the other empty; a line with withheld figures has none.
// Each run has the group of its own targets.
func WriteCSV(w io.Writer, runs []*result.Run, groups []*rank.Group) error {
	columns, lines := table(runs, groups)
	return write.WriteCSV(w, columns, lines)
}

// WriteParquet writes the lines of WriteCSV as a Parquet file.
func WriteParquet(w io.Writer, runs []*result.Run, groups []*rank.Group) error {
	columns, lines := table(runs, groups)
	return write.WriteParquet(w, columns, lines)
}

// table returns the columns and lines of runs.
func table(runs []*result.Run, groups []*rank.Group) ([]Column, []*csvLine) {
	columns := Columns()
	lives := func(t result.Target) bool { return t.Load != nil && t.Load.Life != nil }
	if slices.ContainsFunc(runs, func(r *result.Run) bool { return slices.ContainsFunc(r.Targets, lives) }) {
		columns = append(columns, EventColumns()...)
	}
	if slices.ContainsFunc(runs, func(r *result.Run) bool { return len(r.Agents) > 0 }) {
		columns = append(columns, AgentColumns()...)
	}
	var lines []*csvLine
	for i, r := range runs {
		lines = append(lines, csvLines(groups[i], r)...)
	}
	return columns, lines
}

// csvLines returns the lines of a run.
func csvLines(g *rank.Group, r *result.Run) []*csvLine {
	var lines []*csvLine
	for i := range r.Targets {
		t := &r.Targets[i]
		add := func(kind, name string) *csvLine {
			line := &csvLine{kind: kind, run: r, target: t, name: name}
			if r.Sweep != "" {
				line.add(csvSwept{r})
			}
			lines = append(lines, line)
			return line
		}
		if t.Load != nil {
			line := add("load", compare.LoadSubject)
			line.setLoad(t.Load)
			if line.withheld == "" {
				line.rate = line.addEstimate(g, i, g.RankLoads())
			}
		}
		for _, c := range estimate.CrashesByKind(t) {
			add("crash", c.Kind).setCrashes(&c)
		}
		if t.Load.HasFigures() && t.Load.Growth != nil {
			for step := range t.Load.Growth.Steps {
				add("step", compare.LoadSubject).setStep(step)
			}
		}
		if t.Load != nil && t.Load.Mixed != nil {
			m := t.Load.Mixed
			add("mixed", compare.MixedSubject).setPhase(m)
			for j := range m.Types {
				add("mixed query", m.Types[j].Type).setMixedType(m, &m.Types[j])
			}
		}
		if t.Load != nil && t.Load.Life != nil {
			for j, name := range t.Load.Life.EventNames() {
				add("event", name).setEvent(t.Load.Life, &t.Load.Life.Events[j])
			}
		}
		for j := range t.Queries {
			q := &t.Queries[j]
			line := add("query", q.Type)
			line.setQueries(q)
			if rank.HasFigures(q) {
				sample := g.Samples(q.Type)[i]
				line.add(csvRounds(len(sample)), csvCommon(sample.Queries()))
				line.median = line.addEstimate(g, i, g.RankType(q.Type))
			}
		}
		for _, s := range agents.SharedWork(t) {
			for _, u := range s.Uses() {
				add("agent", s.Name).setAgent(&s, &u)
			}
		}
		if overall := g.RankOverall(); i == overall.Reference || overall.Figures[i] != nil || terms.ReasonUnranked(t) != "" {
			add("overall", compare.AllTypes).setOverall(g, i, overall)
		}
	}
	return lines
}

func (l *csvLine) setLoad(w *result.Load) {
	l.add(csvLoad{w}, w)
	if retries := w.AllRetries(); retries != nil {
		l.add(retries)
	}
	if l.unsupported = w.UnsupportedReason(); l.unsupported != "" {
		return
	}
	if l.withheld = w.Reason(); !w.HasFigures() {
		return
	}
	if a := w.Aggregate; a != nil {
		l.add(a)
		if a.Unsupported == "" {
			of := func(figure func(*result.Aggregate) float64) any { return median(estimate.Aggregates(l.target, figure)) }
			l.add(csvAggregate{a, of(estimate.Building), of(estimate.KeptRate), of(estimate.Fresh)})
		}
	}
	l.add(csvLoaded{w}, csvStored{w}, csvRounds(len(estimate.Loads(l.target, estimate.SettledRate))))
	if v := estimate.MemoryPerSeries(l.run, l.target); v.IsKnown() {
		l.add(csvMemory(v))
	}
	l.addLatency(&w.Batches)
	l.verdict = w.Unverified
	if why := w.UndetectedLoss(); why != "" && l.verdict == "" {
		l.verdict = "losses cannot be excluded: " + why
	}
	l.addResources()
}

func (l *csvLine) setCrashes(c *estimate.Crashes) {
	if l.unsupported = c.Unsupported; l.unsupported == "" {
		l.add(csvUnjudged(c.Failed))
	}
	if c.Count > 0 {
		l.add(csvCrashes{c})
	}
}

func (l *csvLine) setStep(at int) {
	of := func(figure func(*result.GrowthStep) float64) any {
		return median(estimate.Growth(l.target, at, figure))
	}
	settled := estimate.Growth(l.target, at, estimate.StepSettled)
	l.add(csvRounds(len(settled)), csvStep{
		GrowthStep: &l.target.Load.Growth.Steps[at], number: at + 1,
		acked: of(estimate.StepAcked), slowest: of(func(s *result.GrowthStep) float64 { return s.Slowest }),
		cost: stats.Compare(settled, estimate.Growth(l.target, 0, estimate.StepSettled)),
	})
	l.median, l.rate = of(func(s *result.GrowthStep) float64 { return s.Median }), median(settled)
	if e := stats.Summarize(settled); e.Interval != nil {
		l.add(e.Interval)
	}
	l.addResources()
}

func (l *csvLine) setPhase(m *result.Mixed) {
	l.add(m, csvPhase{m}, csvQueriers(m.Queriers), &m.Writes)
	if l.withheld = l.target.Load.Reason(); !l.target.Load.HasFigures() {
		return
	}
	l.add(csvDone{m}, csvStored{&m.Writes})
	l.addLatency(&m.Writes.Batches)
	if m.Response != nil {
		l.add(csvResponse{m.Response})
	}
	if m.Lag != nil {
		l.add(csvLag{m.Lag})
	}
	l.addResources()
}

func (l *csvLine) setEvent(life *result.Life, e *result.LifeEvent) {
	l.withheld, l.unsupported = life.Problem(), e.Unsupported
	if e.Failed != "" {
		l.failed = &result.Failure{Cause: result.ServerError, Reason: e.Failed}
	}
	if l.withheld != "" || !e.HasFigure() {
		return
	}
	l.add(csvEvent{e}, csvRounds(max(life.Loads, 1)))
	if l.median = valueIf(e.During.Median != 0, math.Abs(e.During.Median)); life.Backlog != "" && e.BacklogBefore >= 0 {
		l.add(csvBacklog{e})
	}
}

func (l *csvLine) setMixedType(m *result.Mixed, q *result.MixedType) {
	l.add(m)
	if l.unsupported = q.Unsupported; q.Unsupported != "" {
		return
	}
	l.add(q, &q.Verdict, csvQueriers(m.Queriers))
	l.verdict = q.Verdict.String()
	if l.withheld = cmp.Or(q.Withheld, l.target.Load.Withheld); l.withheld != "" {
		return
	}
	if l.failed = q.Failed; l.failed != nil {
		return
	}
	l.add(csvAnswered{q})
	l.addLatency(&q.Service)
	if q.Response != nil {
		l.add(csvResponse{q.Response})
	}
	if q.Freshness.Count > 0 {
		l.add(csvFresh{q})
	}
}

func (l *csvLine) setQueries(q *result.Queries) {
	if l.unsupported = q.Unsupported; q.Unsupported != "" {
		return
	}
	l.add(q, &q.Verdict)
	l.verdict = q.VerdictText()
	if q.Sample.Wanted > 0 {
		l.add(csvSampled{q}, &q.Sample)
	}
	if q.Outcome() == result.Withheld {
		l.withheld = q.Reason()
		return
	}
	if l.failed = q.Failed; l.failed != nil {
		return
	}
	l.add(csvRan{q}, csvStopped(tables.StopReasons(l.target, q.Type)))
	l.addLatency(&q.Service)
	if rows, aggregate := result.RawType(q.Type); aggregate && l.target.Load != nil && l.target.Load.Aggregate != nil {
		l.add(csvFromRows{l.target.Load.Aggregate.Name, estimate.FromRows(l.target, rows, q.Type)})
	}
	if q.Read != nil {
		l.add(q.Read)
	}
	if o := q.Open; o != nil {
		l.add(o, csvResponse{&o.Response}, csvLag{&o.Lag})
		if o.Search != nil {
			l.add(o.Search)
		}
	}
	l.addResources()
}

func (l *csvLine) setAgent(s *agents.Shared, u *agents.Use) {
	l.add(csvAgent{u, l.run.Agent(u.Name), s.Name}, &rank.ClientUse{User: u.User, System: u.System, Share: u.CPU, PauseMax: u.PauseMax, Scheduling: u.Scheduling})
	l.addLatency(&u.Latency)
	l.clientBound, l.noisy = u.Bound, u.Noisy
}

// setOverall sets the place of the subject in the headline of reports.
func (l *csvLine) setOverall(g *rank.Group, at int, r rank.Ranking) {
	l.addEstimate(g, at, r)
	for i, f := range r.Figures {
		if f != nil && (i == at || at == r.Reference) {
			l.add(csvTypes(f.Types), csvRounds(f.B.N))
		}
	}
	in := func(marked map[string]string) string {
		if n := len(rank.MarkedTypes(l.target, marked)); n > 0 {
			return fmt.Sprintf("in %d of %s", n, format.Plural(len(l.target.Queries), "query type"))
		}
		return ""
	}
	l.clientBound, l.noisy = in(rank.ClientBounds(l.target)), in(rank.NoiseReasons(l.target))
}

// addResources adds the client's and other processes' use of the machine.
func (l *csvLine) addResources() {
	for _, m := range rank.Measurements(l.target) {
		if use, known := m.Client(); known && m.Name == l.name && l.kind != "mixed" {
			l.clientBound = m.ClientBound()
			l.add(&use)
		}
	}
	for _, h := range rank.PhaseNoises(l.target) {
		if h.Name == l.name {
			l.noisy = h.Reason()
			l.add(result.AddNoise(h.Phases...))
		}
	}
}

// addEstimate adds the estimate of the subject at a place of a ranking, and how it
// compares. It returns the estimate itself.
func (l *csvLine) addEstimate(g *rank.Group, at int, r rank.Ranking) any {
	e, f := &r.Estimates[at], r.Figures[at]
	if e.Interval != nil {
		l.add(e.Interval)
	}
	if f != nil {
		l.against = g.Subjects[r.Reference].Name
		if l.add(f); f.Interval != nil {
			l.add(csvRatio{f.Interval})
		}
	}
	switch why := g.ReasonUnranked(at); {
	case why != "":
		l.comparison = rank.NotRanked + ": " + why
	case f != nil || at == r.Reference:
		l.comparison = r.Verdict(at)
	}
	return valueIf(e.N > 0 && e.Median.Bound != stats.Unknown, e.Median)
}
