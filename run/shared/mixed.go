package shared

import (
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
)

// Mix executes a mixed phase with agents: each writes its share of the rows after the loaded ones
// and runs its share of the queries. It waits until the rows have settled, and returns the combined
// figures and journal.
func (t *Team) Mix(ctx context.Context, planned *plan.Target, db driver.DB, repeat int, config engine.MixedConfig, written oplog.Cell, types []engine.MixedQueries, task record.Task) (*result.Mixed, *engine.Journal, error) {
	p := &phase{
		team: t, into: newJoined(written, config.Period, config.Log), task: task,
		ceiling: func(c result.Calibration) float64 { return c.RowsPerSecond },
	}
	rowRate, queryRate := config.Schedules()
	var tallies []*tally.Tally
	for i := range types {
		of := tally.New(subject.MixedCell(written, types[i].Type, config.Queriers, queryRate), config.Period)
		tallies = append(tallies, of)
		p.into = append(p.into, &joined{tally: of, log: types[i].Log, queries: len(types[i].Queries)})
	}
	common, err := t.newAssignment(jobMixed, planned)
	common.Before, common.Lateness, common.Repeat, common.Types = config.Loaded, config.Lateness, repeat, make(map[string]string)
	if t.Plan.Experiment.Mixed.DefaultRates() {
		common.RowRate, common.QueryRate = rowRate, queryRate
	}
	for i := range t.Subject.Queries {
		common.Types[t.Subject.Queries[i].Type.Name] = t.Subject.Queries[i].Set.Fingerprint
	}
	if err == nil {
		err = p.do(ctx, common)
	}
	if err == nil && len(p.missing) > 0 {
		err = fmt.Errorf("%s; nobody can take over a share of a mixed phase, since queries look at how far it has come; %s", missingShares(p.missing, p.count), t.Record.ResumeHint())
	}
	journal := &engine.Journal{Loaded: config.Loaded, Types: make([]engine.AnsweredType, len(types))}
	var parts []*result.Mixed
	for _, r := range p.results {
		if r.Mixed == nil {
			continue
		}
		parts = append(parts, r.Mixed)
		t.joinJournal(journal, r, types)
	}
	found, joining := engine.JoinMixed(config, p.into[0].tally, tallies, parts)
	found.Writes.Parts = p.parts
	if err = cmp.Or(err, joining); err == nil {
		writes := &found.Writes
		config.Visible.Before = config.Loaded
		err = engine.Settle(ctx, config.LoadConfig, p.start, t.Subject.Schema(), db, engine.Loaded{Accepted: writes.Rows}, writes)
	}
	return found, journal, err
}

// writeJournal encodes an agent's journal of its part of a mixed phase. For each query it contains
// the window, and its index in the sequence that both sides generate.
func writeJournal(out io.Writer, j *engine.Journal) error {
	for _, t := range j.Types {
		for _, answers := range [][]engine.Answered{t.Full, t.Counted} {
			for i := range answers {
				answers[i].Query.Shape = nil
			}
		}
	}
	return gob.NewEncoder(out).Encode(j)
}

// joinJournal adds a journal encoded by writeJournal.
func (m *Team) joinJournal(to *engine.Journal, r *shareResult, types []engine.MixedQueries) {
	from := &r.journal
	for i := range from.Shares {
		from.Shares[i].Own, from.Shares[i].Uncertainty = m.Subject.ShareFilter(r.share), m.uncertaintyOf(r.agent)
		to.Shares = append(to.Shares, from.Shares[i])
	}
	for kind := range from.Types {
		t := &from.Types[kind]
		for _, answers := range [][]engine.Answered{t.Full, t.Counted} {
			for i := range answers {
				a := &answers[i]
				q := types[kind].Queries[a.Place]
				q.Start, q.End = a.Query.Start, a.Query.End
				a.Query = q
			}
		}
		to.Types[kind].Full = append(to.Types[kind].Full, t.Full...)
		to.Types[kind].Counted = append(to.Types[kind].Counted, t.Counted...)
	}
}

// LoadRest loads with agents the rows of each share that a mixed phase did not hand over, and waits
// until they have settled.
func (m *Team) LoadRest(ctx context.Context, planned *plan.Target, db driver.DB, config engine.LoadConfig, journal *engine.Journal, task record.Task) (*result.Load, error) {
	p := &phase{
		team: m, count: len(journal.Shares), task: task,
		into:    newJoined(oplog.Cell{Kind: oplog.Load, Workers: config.Workers}, 0, config.Log),
		ceiling: func(c result.Calibration) float64 { return c.RowsPerSecond },
		repeats: planned.Caps.Dedupes,
	}
	common, err := m.newAssignment(jobRest, planned)
	common.Before = journal.Loaded
	for i := range journal.Shares {
		common.Handed = append(common.Handed, journal.Shares[i].HandedRows())
		p.missing = append(p.missing, result.Part{Share: i})
	}
	if err == nil {
		err = p.takeOver(ctx, common)
	}
	if err == nil && len(p.missing) > 0 {
		err = fmt.Errorf("loading what the mixed phase left: %s", missingShares(p.missing, p.count))
	}
	var loads []*result.Load
	for _, r := range p.results {
		if r.Load != nil {
			loads = append(loads, r.Load)
		}
	}
	rest, joining := engine.JoinLoads(config, p.into[0].tally, loads)
	if err = cmp.Or(err, joining); err != nil {
		return rest, err
	}
	config.Visible.Before = -1 // the rows written by the phase are unknown here
	return rest, engine.Settle(ctx, config, p.start, m.Subject.Schema(), db, engine.Loaded{Accepted: rest.Rows}, rest)
}
