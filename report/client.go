package report

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// boundMark stands behind figures for which the client may have set the pace.
const boundMark = "†"

const boundNote = boundMark + " client-bound: tsmark itself may have set the pace, and the system may be faster than shown."

// measurement is the load or one query type of a target, in all its repeats.
type measurement struct {
	Name    string
	Cells   []*result.Cell
	Rows    int64 // loaded
	Queries int64 // run
	Paused  int64 // queries or batches during which tsmark stood still

	clientTime, service float64 // of queries, in seconds: see result.Queries.ClientShare
}

// clientShare is the part of the service time in which tsmark itself used a processor.
func (m *measurement) clientShare() result.Value {
	if m.clientTime <= 0 || m.service <= 0 {
		return result.Absent()
	}
	return result.Value(m.clientTime / m.service)
}

func pausedCell(n int64) span {
	if n == 0 {
		return spanNone()
	}
	return spanBad(count(n))
}

// addQueries adds what a repeat has of the queries.
func (m *measurement) addQueries(q *result.Queries) {
	m.Cells, m.Queries, m.Paused = append(m.Cells, &q.Cell), m.Queries+q.Executed, m.Paused+q.Paused
	m.clientTime, m.service = m.clientTime+q.ClientTime, m.service+q.Service.Mean*float64(q.Service.Count)
}

// measurements lists what was measured of a target and stands, the load first.
func measurements(t *result.Target) []measurement {
	var list []measurement
	load := measurement{Name: compare.LoadSubject}
	add := func(l *result.Load) {
		if l.Stands() {
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
		if !stands(q) {
			continue
		}
		m := measurement{Name: q.Type}
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

// clientBound says why the client may have set the pace, and in how many of
// the repeats; empty: in none.
func (m *measurement) clientBound() string {
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

// clientBounds says of each measurement of a target, if it is so, why the
// client may have set its pace.
func clientBounds(t *result.Target) map[string]string {
	bounds := map[string]string{}
	for _, m := range measurements(t) {
		if why := m.clientBound(); why != "" {
			bounds[m.Name] = why
		}
	}
	return bounds
}

// clientUse is the client's share of the machine's cores over all repeats, and
// the worst that any of them saw otherwise.
type clientUse struct{ Share, ShareMax, PauseMax, Scheduling, SchedulingMax result.Value }

func (m *measurement) client() (use clientUse, known bool) {
	none := result.Absent()
	use = clientUse{none, none, none, none, none}
	cpu, available := result.Value(0), result.Value(0)
	for _, c := range m.Cells {
		if c.Client == nil {
			continue
		}
		known = true
		cpu, available = cpu+c.Client.CPU, available+result.Value(c.Client.Wall*float64(c.Client.Cores))
		worst(&use.ShareMax, c.Client.Share)
		worst(&use.PauseMax, result.Value(c.Client.GCPauseMax))
		worst(&use.Scheduling, c.Client.SchedulingP99)
		worst(&use.SchedulingMax, c.Client.SchedulingMax)
	}
	if available > 0 {
		use.Share = cpu / available
	}
	return use, known
}

// clientTable shows what the client itself needed: proof, or not, that it was
// not the limit. Nil where no target has a process of its own.
func clientTable(r *result.Run) *table {
	view := &table{Title: "Client: was it the limit?", Terminal: doubtful, Columns: []column{
		{Head: "target"}, {Head: "measurement", Words: true},
		{Head: "CPU", Help: "tsmark's share of all cores of the machine"},
		{Head: "of queries", Help: "part of the service time of the queries in which tsmark itself used a processor"},
		{Head: "stood still", Help: "queries or batches during which tsmark itself was stopped or had no processor: they are left out of the figures", Rank: 4},
		{Head: "most", Help: "the same, of the repeat in which it was highest", Rank: 3},
		{Head: "GC pause max", Help: "longest pause in which tsmark collected garbage; it lengthens latencies", Rank: 1},
		{Head: "wait p99", Help: "scheduling delay: how long a goroutine that could go on waited for a processor, 99th percentile of the worst repeat"},
		{Head: "wait max", Help: "longest scheduling delay", Rank: 2},
		{Head: "finding", Words: true},
	}}
	any := false
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Embedded {
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label())}, Remark: spanDim("n/a: shares tsmark's process")})
			continue
		}
		for _, m := range measurements(t) {
			use, known := m.client()
			if !known {
				continue
			}
			any = true
			finding := spanPlain("not the limit")
			if why := m.clientBound(); why != "" {
				finding = spanBad("client-bound: " + why)
			}
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label()), spanPlain(m.Name), share(use.Share), share(m.clientShare()), pausedCell(m.Paused), share(use.ShareMax),
				delay(use.PauseMax), delay(use.Scheduling), delay(use.SchedulingMax), finding}})
		}
	}
	if !any {
		return nil
	}
	return view
}

// share renders a part of all cores.
func share(v result.Value) span {
	if !v.Known() {
		return spanNone()
	}
	return spanPlain(fmt.Sprintf("%.1f%s%%", 100*float64(v), unitSpace))
}

func delay(v result.Value) span {
	if !v.Known() {
		return spanNone()
	}
	return spanPlain(duration(float64(v)))
}

// calibrationFact is what the client can do at most; empty: not measured.
func calibrationFact(c *result.Calibration) string {
	if c == nil {
		return ""
	}
	rows, queries := digits(c.RowsPerSecond), digits(c.QueriesPerSecond)
	if c.QueryWorkers == 0 || c.QueryWorkers == c.Workers {
		return fmt.Sprintf("at most %s rows/s and %s queries/s with %s, against a stub", rows, queries, plural(c.Workers, "worker"))
	}
	return fmt.Sprintf("at most %s rows/s with %s and %s queries/s with %d, against a stub", rows, plural(c.Workers, "worker"), queries, c.QueryWorkers)
}

// otherDatabaseNames is otherDatabases without figures, which differ from run to run.
func otherDatabaseNames(r *result.Run) []span {
	var list []span
	for _, other := range r.OtherDatabases {
		n := spanBad("Another process on this host: " + other.Name + ".")
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// otherDatabases names the other databases that ran on the host.
func otherDatabases(r *result.Run) []span {
	var list []span
	for _, other := range r.OtherDatabases {
		text := fmt.Sprintf("Another process on this host: %s (%s, process %d", other.Name, other.Process, other.PID)
		if other.Share.Known() {
			text += fmt.Sprintf(", %.0f%s%% of a core", 100*float64(other.Share), unitSpace)
		}
		if other.RSS.Known() {
			text += ", " + size(int64(other.RSS))
		}
		list = append(list, spanBad(text+")."))
	}
	return list
}
