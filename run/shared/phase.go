package shared

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/watch"
	"github.com/tsmark/tsmark/workload"
)

// phase is a phase executed by agents, a share each: the outcomes of the shares, and the operations
// of all.
type phase struct {
	team    *Team
	count   int       // shares
	into    []*joined // destination of operations; with several, each receives the cells of its kind and type
	task    record.Task
	ceiling func(result.Calibration) float64
	repeats bool // the share of a lost member is executed again, so the others continue

	start   time.Time // start of all shares, by this process's clock; zero: none has started
	behind  time.Duration
	parts   []result.Part
	results []*shareResult
	missing []result.Part // shares that no agent finished
}

// joined is the operations of all shares that belong to one measurement.
type joined struct {
	tally   *tally.Tally
	log     *oplog.Section
	workers int // of shares that were joined
	queries int // generated queries of the type; 0: the cell has the number
}

// newJoined returns the only measurement of a phase.
func newJoined(cell oplog.Cell, period time.Duration, log *oplog.Section) []*joined {
	return []*joined{{tally: tally.New(cell, period), log: log}}
}

// joinedOf returns the measurement of a cell of an agent's log.
func (p *phase) joinedOf(cell oplog.Cell) *joined {
	at := slices.IndexFunc(p.into, func(j *joined) bool { return j.tally.Cell.Kind == cell.Kind && j.tally.Cell.Type == cell.Type })
	return p.into[max(at, 0)]
}

// memberShare is a share and its member.
type memberShare struct {
	member Member
	share  workload.Share
}

// do executes the shares on all members. If a member is lost before any could start, it repeats
// them on the remaining members.
func (p *phase) do(ctx context.Context, common assignment) error {
	for {
		members := p.team.Agents.Members()
		if len(members) == 0 {
			return fmt.Errorf("%w; start some; %s", record.ErrNoAgents, p.team.Record.ResumeHint())
		}
		p.count, p.parts, p.results = len(members), nil, nil
		list := make([]memberShare, len(members))
		for i, m := range members {
			list[i] = memberShare{m, workload.Share{Index: i, Count: p.count}}
		}
		lost, calledOff, err := p.give(ctx, common, list)
		if err != nil {
			return err
		}
		if !calledOff {
			p.missing = lost
			return nil
		}
	}
}

// takeOver executes lost shares again, from their start, on the remaining members. If a lost share
// cannot be repeated it returns at once.
func (p *phase) takeOver(ctx context.Context, common assignment) error {
	for len(p.missing) > 0 {
		members := p.team.Agents.Members()
		if len(members) == 0 {
			return fmt.Errorf("%w; start some; %s", record.ErrNoAgents, p.team.Record.ResumeHint())
		}
		var list []memberShare
		for i := range min(len(members), len(p.missing)) {
			share := p.missing[i].Share
			list = append(list, memberShare{members[i], workload.Share{Index: share, Count: p.count}})
			for j := range p.parts {
				if p.parts[j].Share == share {
					p.parts[j].TakenOver = members[i].Name
				}
			}
		}
		rest := p.missing[len(list):]
		lost, calledOff, err := p.give(ctx, common, list)
		if err != nil {
			return err
		}
		if calledOff {
			continue // with the remaining members
		}
		if len(lost) > 0 && !p.repeats {
			p.missing = lost
			return nil
		}
		p.missing = append(slices.Clone(rest), lost...)
	}
	return nil
}

// give sends shares to members, and joins the results. It returns the shares of lost members, and
// whether all shares were called off because a member was lost before the start. The error comes
// from the share of a member that is not lost.
func (p *phase) give(ctx context.Context, common assignment, list []memberShare) (lost []result.Part, calledOff bool, err error) {
	if p.team.Enlist(false) { // a replacement has joined; the record must name it for resuming the run
		if err := p.team.Record.Store.Save(ctx, &p.team.Record.Doc); err != nil {
			return nil, false, record.StoreError(err)
		}
	}
	bodies, names := make(map[string][]byte), make(map[string]string)
	for _, a := range list {
		common.Share = a.share
		body, err := json.Marshal(&common)
		if err != nil {
			return nil, false, fmt.Errorf("dividing a phase among agents: %w", err)
		}
		bodies[a.member.ID], names[a.member.ID] = body, a.member.Name
	}
	sent := time.Now()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &progressWatch{phase: p, done: make(map[string]int64), names: names, stop: stop}
	outcomes, err := p.team.Agents.Do(within, bodies, w)
	defer func() {
		for _, o := range outcomes {
			if o.File != "" {
				_ = os.Remove(o.File) // it has been read
			}
		}
	}()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, errStopped):
		err = nil
	}
	if err != nil && len(outcomes) == 0 {
		return nil, false, err
	}
	began := startOf(slices.Collect(maps.Values(outcomes)))
	if p.start.IsZero() {
		p.start = began
	}
	if began.IsZero() {
		began = sent // there are no operations
	}
	var failed, unstarted error
	for _, a := range list {
		o := outcomes[a.member.ID]
		part := result.Part{Agent: a.member.Name, Share: a.share.Index, Skew: o.Skew.Seconds()}
		switch {
		case o.Lost:
			part.Lost = o.Err.Error()
			p.team.noteLost(a.member.Name, o.Err)
			lost = append(lost, part)
		case o.Err != nil && err != nil:
			part.Lost = "stopped: " + err.Error()
		case o.Err != nil && w.first != "" && w.first != a.member.Name:
			part.Lost = fmt.Sprintf("stopped, since agent %s did not finish its share", w.first)
		case o.CalledOff:
			calledOff = true
		case o.Err != nil && o.Started.IsZero():
			calledOff, unstarted = true, cmp.Or(unstarted, fmt.Errorf("agent %s: %w", a.member.Name, o.Err))
		case o.Err != nil:
			failed = cmp.Or(failed, fmt.Errorf("agent %s: %w", a.member.Name, o.Err))
		}
		if o.File != "" {
			file, err := os.Open(o.File)
			if err != nil {
				return nil, false, fmt.Errorf("reading what agent %s did: %w", a.member.Name, err)
			}
			defer file.Close() // only used for reading
			info, err := file.Stat()
			if err != nil {
				return nil, false, fmt.Errorf("reading what agent %s did: %w", a.member.Name, err)
			}
			log, err := p.read(&part, a.share, common.Job, file, info.Size(), time.Since(sent))
			if err != nil {
				why := fmt.Errorf("agent %s was lost: it sent a result that no agent sends: %w", a.member.Name, err)
				p.team.Agents.Dismiss(a.member.ID, "a result that no agent sends: "+err.Error())
				p.team.noteLost(a.member.Name, why)
				if !o.Lost {
					part.Lost = why.Error()
					lost = append(lost, part)
				}
				p.parts = append(p.parts, part)
				continue
			}
			if err := p.join(&part, a.share, log, began); err != nil {
				return nil, false, fmt.Errorf("joining what agent %s did: %w", a.member.Name, err)
			}
			// the last reported number is older
			w.Progress(a.member.ID, max(w.done[a.member.ID], p.results[len(p.results)-1].Done))
		}
		p.parts = append(p.parts, part)
	}
	if len(lost) == 0 {
		failed = cmp.Or(failed, unstarted)
	}
	return lost, calledOff && w.first == "", cmp.Or(err, failed)
}

// errStopped is wrapped by the cause for stopping a phase whose figures can no longer be complete.
var errStopped = errors.New("the phase was stopped")

// progressWatch observes the progress of a phase's parts.
type progressWatch struct {
	phase *phase
	done  map[string]int64  // of each member
	names map[string]string // of members
	stop  context.CancelCauseFunc
	first string // the agent that caused the stop; empty: none yet
}

// Progress implements PhaseObserver.
func (w *progressWatch) Progress(member string, done int64) {
	w.phase.task.Add(done - w.done[member])
	w.done[member] = done
}

// PartFailed implements PhaseObserver.
func (w *progressWatch) PartFailed(member string, lost bool) {
	if lost && w.phase.repeats || w.first != "" {
		return
	}
	w.first = w.names[member]
	w.stop(fmt.Errorf("%w, since agent %s did not finish its share", errStopped, w.first))
}

// startOf returns the start of the parts: the common start time, by all their clocks; zero: none
// started.
func startOf(outcomes []Outcome) time.Time {
	var first time.Time
	sum, n := time.Duration(0), 0
	for _, o := range outcomes {
		if o.Started.IsZero() {
			continue
		}
		at := o.Started.Add(-o.Skew)
		if first.IsZero() {
			first = at
		}
		sum, n = sum+at.Sub(first), n+1
	}
	if n == 0 {
		return time.Time{}
	}
	return first.Add(sum / time.Duration(n))
}

// read reads and checks an agent's result of the given size; the log is nil if there are no
// operations.
func (p *phase) read(part *result.Part, share workload.Share, job string, file io.ReaderAt, bytes int64, elapsed time.Duration) (log *oplog.Reader, err error) {
	found, size, err := readResult(file, bytes)
	if err != nil {
		return nil, err
	}
	if log, err = readLog(file, size); err != nil {
		return nil, err
	}
	if err := p.checkResult(job, found, log, elapsed); err != nil {
		return nil, err
	}
	found.agent, found.share = part.Agent, share
	p.results = append(p.results, found)
	return readLog(file, size)
}

// join adds an agent's result, which began at the given time, to the phase and to its part.
func (p *phase) join(part *result.Part, share workload.Share, log *oplog.Reader, began time.Time) error {
	found := p.results[len(p.results)-1]
	part.Client, part.Noise = found.Client, found.Noise
	if found.Calibration != nil && p.team.ceilings != nil {
		p.team.ceilings[part.Agent] = *found.Calibration
	}
	if log == nil {
		return nil
	}
	offset, typical := began.Sub(p.start)-found.Start, 0.0
	last, err := p.replay(log, share, offset)
	if err != nil {
		return err
	}
	part.Wall = max(last-began.Sub(p.start), 0).Seconds()
	if l := found.Load; l != nil {
		part.Rows, part.Batches = l.Rows, &l.Batches
	}
	if m := found.Mixed; m != nil {
		part.Rows, part.Batches = m.Writes.Rows, &m.Writes.Batches
		var times []*result.Latency
		for i := range m.Types {
			part.Queries += m.Types[i].Executed
			times = append(times, &m.Types[i].Service)
		}
		service, err := result.MergedLatency(times...)
		if err != nil {
			return err
		}
		part.Service = &service
	}
	if q := found.Queries; q != nil {
		part.Queries, part.Service, typical = q.Executed, &q.Service, q.Service.Median
		part.Wall = q.Wall
	}
	if part.Client != nil {
		measured := result.Cell{Client: part.Client, Noise: part.Noise}
		rate := part.RowRate()
		switch {
		case found.Queries != nil:
			rate = part.QueryRate()
		case found.Load != nil && found.Load.Sent > 0:
			rate = result.PerSecond(found.Load.Rows, found.Load.Sent)
		}
		part.ClientBound = watch.ClientBound(&measured, rate, p.ceiling(p.team.ceilings[part.Agent]), typical)
	}
	return nil
}

// readResult reads the figures that Agent.Do wrote, and returns the size of the log before them.
func readResult(file io.ReaderAt, whole int64) (found *shareResult, log int64, err error) {
	found = new(shareResult)
	if whole == 0 {
		return found, 0, nil
	}
	var length [8]byte
	behind := whole - int64(len(length))
	if behind < 0 {
		return nil, 0, errors.New("it is damaged")
	}
	if _, err := file.ReadAt(length[:], behind); err != nil {
		return nil, 0, fmt.Errorf("its end: %w", err)
	}
	size := binary.LittleEndian.Uint64(length[:])
	if size > uint64(min(behind, mostFigures)) {
		return nil, 0, errors.New("it is damaged")
	}
	text := make([]byte, size)
	if _, err := file.ReadAt(text, behind-int64(size)); err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(text, found); err != nil {
		return nil, 0, fmt.Errorf("its figures: %w", err)
	}
	return found, behind - int64(size), nil
}

// readLog reads the log of operations at the beginning of the file; nil: the file has none.
func readLog(file io.ReaderAt, size int64) (*oplog.Reader, error) {
	if size == 0 {
		return nil, nil
	}
	return oplog.NewReader(io.NewSectionReader(file, 0, size))
}

// replayed is the number of operations recorded before the run's log must have written them.
const replayed = 8192

// replay records the operations of a share as if its workers were this process's, and returns the
// end of the last one, since the start.
func (p *phase) replay(log *oplog.Reader, share workload.Share, offset time.Duration) (last time.Duration, err error) {
	type of struct{ cell, worker uint32 }
	type recorder struct {
		*tally.Recorder
		into *joined
	}
	recorders := make(map[of]recorder)
	workers := make(map[*joined]int)
	defer func() {
		for _, r := range recorders {
			r.Close(r.into.tally)
		}
	}()
	n := 0
	var newest, lag time.Duration
	for op, err := range log.All() {
		if err != nil {
			return last, err
		}
		if op.Outcome == oplog.Started {
			continue
		}
		r, known := recorders[of{op.Cell, op.Worker}]
		if !known {
			into := p.joinedOf(log.Cells()[op.Cell])
			r = recorder{into.tally.Recorder(into.log, into.workers+int(op.Worker), p.start), into}
			recorders[of{op.Cell, op.Worker}] = r
			if op.Outcome != oplog.Dropped {
				workers[into] = max(workers[into], int(op.Worker)+1)
			}
		}
		op.Start += offset
		op.Intended += offset
		r.Add(op)
		last = max(last, op.Start+op.Duration)
		if op.Intended >= newest {
			newest, lag = op.Intended, op.Lag
		}
		if n++; n%replayed == 0 {
			if err := p.team.Record.Log.Flush(); err != nil {
				return last, err
			}
		}
	}
	if lost := log.End().Lost; lost > 0 {
		return last, fmt.Errorf("its log lost %d operations: the disk was too slow", lost)
	}
	for into, n := range workers {
		into.workers += n
	}
	p.behind += lag / time.Duration(max(share.Count, 1))
	return last, p.team.Record.Log.Flush()
}

// missingShares names the missing shares, with reasons.
func missingShares(missing []result.Part, of int) string {
	text := ""
	for _, m := range missing {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("share %d of %d is missing: %s", m.Share+1, of, m.Lost)
	}
	return text
}
