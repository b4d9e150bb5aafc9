package rank

import (
	"fmt"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// KeepWorst keeps the larger of two figures. Either may be unknown.
func KeepWorst(to *result.Value, v result.Value) {
	if v.IsKnown() && (!to.IsKnown() || v > *to) {
		*to = v
	}
}

// BoundMark follows figures for which the client may have set the pace.
const BoundMark = "†"

const BoundNote = BoundMark + " client-bound: tsmark itself may have set the pace, and the system may be faster than shown."

// Measurement is the load or one query type of a target, in all its repeats.
type Measurement struct {
	Name    string
	Cells   []*result.Cell
	Rows    int64 // loaded
	Queries int64 // run
	Paused  int64 // queries or batches during which tsmark was paused

	clientTime, service float64 // of queries, in seconds: see result.Queries.ClientShare
}

// ClientShare is the part of the service time in which tsmark itself used a processor.
func (m *Measurement) ClientShare() result.Value {
	if m.clientTime <= 0 || m.service <= 0 {
		return result.Absent()
	}
	return result.Value(m.clientTime / m.service)
}

// addQueries adds the queries of a repeat.
func (m *Measurement) addQueries(q *result.Queries) {
	m.Cells, m.Queries, m.Paused = append(m.Cells, &q.Cell), m.Queries+q.Executed, m.Paused+q.Paused
	m.clientTime, m.service = m.clientTime+q.ClientTime, m.service+q.Service.Mean*float64(q.Service.Count)
}

// Measurements lists the usable measurements of a target, the load first.
func Measurements(t *result.Target) []Measurement {
	var list []Measurement
	load := Measurement{Name: compare.LoadSubject}
	add := func(l *result.Load) {
		if l.HasFigures() {
			load.Cells, load.Rows, load.Paused = append(load.Cells, &l.Cell), load.Rows+l.Rows, load.Paused+l.Paused
		}
	}
	if len(t.Repeats) == 0 {
		add(t.Load)
	}
	for i := range t.Repeats {
		add(t.Repeats[i].Load)
	}
	if len(load.Cells) > 0 {
		list = append(list, load)
	}
	for i := range t.Queries {
		q := &t.Queries[i]
		if !HasFigures(q) {
			continue
		}
		m := Measurement{Name: q.Type}
		if len(t.Repeats) == 0 {
			m.addQueries(q)
		}
		for j := range t.Repeats {
			if again := t.Repeats[j].Type(q.Type); again != nil && again.Executed > 0 {
				m.addQueries(again)
			}
		}
		list = append(list, m)
	}
	return list
}

// ClientBound returns why the client may have set the pace, and in how many of
// the repeats. It is empty if it did not in any.
func (m *Measurement) ClientBound() string {
	why, bound := "", 0
	for _, c := range m.Cells {
		if by := c.Bound(); by != "" {
			why, bound = by, bound+1
		}
	}
	if bound > 0 && len(m.Cells) > 1 {
		why += fmt.Sprintf(" (in %d of %d repeats)", bound, len(m.Cells))
	}
	return why
}

// ClientBounds says of each measurement of a target, if it is so, why the
// client may have set its pace.
func ClientBounds(t *result.Target) map[string]string {
	bounds := map[string]string{}
	for _, m := range Measurements(t) {
		if why := m.ClientBound(); why != "" {
			bounds[m.Name] = why
		}
	}
	return bounds
}

// ClientUse is the client's use of the machine over all repeats, and the worst that any of
// them saw otherwise.
type ClientUse struct {
	User, System                                         result.Value // CPU seconds in programs and in the kernel
	Share, ShareMax, PauseMax, Scheduling, SchedulingMax result.Value
}

// Client returns the client's use of the machine. It is not known if no repeat recorded it.
func (m *Measurement) Client() (use ClientUse, known bool) {
	none := result.Absent()
	use = ClientUse{Share: none, ShareMax: none, PauseMax: none, Scheduling: none, SchedulingMax: none}
	cpu, available := result.Value(0), result.Value(0)
	for _, c := range m.Cells {
		if c.Client == nil {
			continue
		}
		known = true
		use.User, use.System = use.User+c.Client.User, use.System+c.Client.System
		cpu, available = cpu+c.Client.CPU, available+result.Value(c.Client.Wall*float64(c.Client.Cores))
		KeepWorst(&use.ShareMax, c.Client.Share)
		KeepWorst(&use.PauseMax, result.Value(c.Client.GCPauseMax))
		KeepWorst(&use.Scheduling, c.Client.SchedulingP99)
		KeepWorst(&use.SchedulingMax, c.Client.SchedulingMax)
	}
	if available > 0 {
		use.Share = cpu / available
	}
	return use, known
}

// SettledRate is rows a second until everything had settled; 0 where the load
// has no such figure that was verified.
func SettledRate(l *result.Load) float64 {
	if !l.HasFigures() || l.Unverified != "" {
		return 0
	}
	return estimate.SettledRate(l)
}

// HasFigures reports whether figures of a type are shown at all.
func HasFigures(q *result.Queries) bool { return q.Outcome() >= result.Empty }
