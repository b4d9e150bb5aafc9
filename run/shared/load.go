package shared

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
)

// Load loads with agents, and waits until the rows have settled.
func (t *Team) Load(ctx context.Context, planned *plan.Target, db driver.DB, config engine.LoadConfig, f *subject.Feed, task record.Task) (*result.Load, error) {
	cell := oplog.Cell{Kind: oplog.Load, Workers: config.Workers}
	p := &phase{
		team: t, into: newJoined(cell, config.Period, config.Log), task: task,
		ceiling: func(c result.Calibration) float64 { return c.RowsPerSecond },
		repeats: planned.Caps.Dedupes,
	}
	common, err := t.newAssignment(jobLoad, planned)
	if common.Mixed = t.Subject.Mixes(); common.Mixed {
		common.Before = f.Rows
	}
	if err == nil {
		err = p.do(ctx, common)
	}
	if err == nil && len(p.missing) > 0 && p.repeats {
		err = p.takeOver(ctx, common)
	}
	if err == nil && len(p.missing) > 0 {
		err = fmt.Errorf("%s; nobody took it over, since %s would keep rows that are sent again twice; %s", missingShares(p.missing, p.count), planned.Driver.Name, t.Record.ResumeHint())
	}
	var loads []*result.Load
	for _, r := range p.results {
		if r.Load != nil {
			loads = append(loads, r.Load)
		}
		if f.Counted != nil {
			f.Counted.RowsRead.Add(r.RowsRead)
		}
	}
	found, joining := engine.JoinLoads(config, p.into[0].tally, loads)
	found.Parts = p.parts
	if err = cmp.Or(err, joining); err != nil {
		return found, err
	}
	return found, engine.Settle(ctx, config, p.start, t.Subject.Schema(), db, engine.Loaded{Accepted: found.Rows}, found)
}
