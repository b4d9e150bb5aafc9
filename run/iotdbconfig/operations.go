package iotdbconfig

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// proportion is the parameter with the mix of operations.
const proportion = "OPERATION_PROPORTION"

// queryTypes are the names for the tool's Q1 to Q12.
func queryTypes() []string {
	return []string{
		"precise-point", "time-range", "value-range", "agg-time", "agg-value", "agg-time-value", "group-by-time", "latest-point",
		"time-range-desc", "value-range-desc", "group-by-time-desc", "set-operation",
	}
}

// shares are the frequency and the mix of a client's operations.
type shares struct {
	loop    int64
	clients int
	write   float64 // probability
	queried []float64
	batches float64 // per write: one for each device of the client, or several
}

func (s *shares) writes() bool  { return s.write > 0 }
func (s *shares) queries() bool { return len(s.queried) > 0 }

// operations sets the numbers and the kinds of writes and queries.
func (m *mapping) operations() {
	s := &shares{loop: m.integer("LOOP")}
	m.clients(s)
	all, ok := m.shares(proportion, 11, 13)
	if !ok {
		return
	}
	sum, kinds := 0.0, int64(0)
	for _, x := range all {
		sum += x
		if x > 0 {
			kinds++
		}
	}
	if kinds > s.loop {
		m.bad("LOOP", "%d operations of a client are fewer than the %d kinds of %s; raise it", s.loop, kinds, proportion)
	}
	s.write = all[0] / sum
	var types []string
	for i, x := range all[1:] {
		if x > 0 {
			types, s.queried = append(types, queryTypes()[i]), append(s.queried, x/sum)
		}
	}
	m.out.Queries.Types = types
	m.setOrigin(proportion, "queries.types")
	m.rows(s)
	m.write(s)
	m.queries(s)
	if s.writes() && s.queries() {
		m.mix(s)
	}
	m.pace(s)
}

// clients sets the workers.
func (m *mapping) clients(s *shares) {
	name := "DATA_CLIENT_NUMBER"
	if m.has("CLIENT_NUMBER") && !m.has(name) {
		name = "CLIENT_NUMBER"
	} else {
		m.becomes(Ignored, "DATA_CLIENT_NUMBER takes precedence", "CLIENT_NUMBER")
	}
	n := int(m.count(name))
	if devices := m.integer("DEVICE_NUMBER"); int64(n) > devices && m.truth("IS_CLIENT_BIND") {
		if !m.has(name) && m.has("DEVICE_NUMBER") {
			m.bad("DEVICE_NUMBER", "%d devices are fewer than the tool's default of %d clients; set DATA_CLIENT_NUMBER to %d or less", devices, n, devices)
		} else {
			m.bad(name, "%d clients are more than %d devices; lower it, or raise DEVICE_NUMBER", n, devices)
		}
	}
	s.clients = n
	m.out.Load.Workers, m.out.Queries.Workers = n, n
	m.setOrigin(name, "load.workers", "queries.workers")
}

// rows sets the number of rows: the rows written by LOOP, even for queries only, which read the
// rows of such writes.
func (m *mapping) rows(s *shares) {
	w, batch := &m.out.Workload, m.count("BATCH_SIZE_PER_WRITE")
	written := float64(s.loop)
	if s.writes() {
		written = max(math.Round(written*s.write), 1)
	}
	if span := written * float64(batch) * float64(w.Interval); span > float64(maxSpan) {
		m.bad("LOOP", "%.0f batches of %d rows, each a POINT_STEP of %s, are longer than 200 years; lower one of them", written, batch, experiment.DurationText(w.Interval))
		return
	}
	w.End = w.Start.Add(time.Duration(written) * time.Duration(batch) * w.Interval)
	w.InARow = batch
	m.setOrigin("LOOP", "workload.timestamp-end")
	m.setOrigin("BATCH_SIZE_PER_WRITE", "workload.rows-in-a-row")
}

// write sets how rows are sent.
func (m *mapping) write(s *shares) {
	batch, together := m.integer("BATCH_SIZE_PER_WRITE"), m.integer("DEVICE_NUM_PER_WRITE")
	devices := int64(m.out.Workload.Scale)
	switch {
	case together > 1 && !m.truth("IS_SENSOR_TS_ALIGNMENT"):
		m.bad("DEVICE_NUM_PER_WRITE", "several devices are written together only where IS_SENSOR_TS_ALIGNMENT is true")
	case together > 1 && devices%(int64(s.clients)*together) != 0:
		m.bad("DEVICE_NUM_PER_WRITE", "%d devices cannot be written %d at a time by each of %d clients; make DEVICE_NUMBER a multiple of both together", devices, together, s.clients)
	}
	m.out.Load.BatchSize = int(min(batch*together, math.MaxInt32))
	m.setOrigin("BATCH_SIZE_PER_WRITE", "load.batch-size")
	s.batches = float64(devices) / float64(s.clients) / float64(together)
	if !m.truth("IS_SENSOR_TS_ALIGNMENT") {
		s.batches *= float64(m.count("SENSOR_NUMBER"))
	}
	m.out.Load.Replace = m.truth("IS_DELETE_DATA") && s.writes()
	m.setOrigin("IS_DELETE_DATA", "load.replace")
	m.out.Load.ReportingPeriod = time.Duration(min(m.integer("LOG_PRINT_INTERVAL"), 1e6)) * time.Second
	switch {
	case !s.writes():
		m.becomes(Ignored, "without writes it has no effect", "IS_DELETE_DATA", "CREATE_SCHEMA")
	case !m.truth("CREATE_SCHEMA"):
		m.bad("CREATE_SCHEMA", "tables are made before the clock starts; set it to true")
	}
}

// queries sets the queries.
func (m *mapping) queries(s *shares) {
	q := &m.out.Queries
	for _, p := range []struct{ name, setting, value string }{
		{"QUERY_SENSOR_NUM", "sensors", fmt.Sprint(m.count("QUERY_SENSOR_NUM"))},
		{"QUERY_DEVICE_NUM", "devices", fmt.Sprint(m.count("QUERY_DEVICE_NUM"))},
		{"QUERY_AGGREGATE_FUN", "aggregate", m.aggregate()},
		{"QUERY_SET_OP_TYPE", "set", m.set()},
		{"QUERY_SET_OP_NUM", "set-of", fmt.Sprint(m.count("QUERY_SET_OP_NUM"))},
		{"QUERY_LOWER_VALUE", "filter", withOperator(m.text("QUERY_LOWER_VALUE"))},
		{"QUERY_INTERVAL", "span", experiment.DurationText(m.time("QUERY_INTERVAL"))},
		{"GROUP_BY_TIME_UNIT", "bucket", experiment.DurationText(m.time("GROUP_BY_TIME_UNIT"))},
	} {
		q.Settings.Set("iotdb."+p.setting, p.value)
		m.setOrigin(p.name, "queries.iotdb."+p.setting)
	}
	q.Timeout = time.Duration(min(m.integer("READ_OPERATION_TIMEOUT_MS"), 1e9)) * time.Millisecond
	m.setOrigin("READ_OPERATION_TIMEOUT_MS", "queries.timeout")
	m.windows(s)
	if !s.queries() {
		return
	}
	n := math.Ceil(float64(s.loop)*float64(s.clients)*slices.Max(s.queried) - 1e-6)
	if n > experiment.MaxQueries {
		m.bad("LOOP", "%d clients run a type %.0f times, more than %d; lower it", s.clients, n, experiment.MaxQueries)
		return
	}
	q.Count = max(int(n), 1)
	m.setOrigin("LOOP", "queries.count")
	if !s.writes() {
		q.TimeBox = 0
	}
}

// aggregate returns the aggregate function.
func (m *mapping) aggregate() string {
	known := map[string]string{"count": "count", "sum": "sum", "avg": "avg", "max_value": "max", "max": "max", "min_value": "min", "min": "min"}
	name, ok := known[strings.ToLower(m.text("QUERY_AGGREGATE_FUN"))]
	if !ok {
		m.bad("QUERY_AGGREGATE_FUN", "must be count, sum, avg, max_value or min_value, not %s", short(m.text("QUERY_AGGREGATE_FUN")))
	}
	return name
}

// set returns the set operation.
func (m *mapping) set() string {
	operation, how, _ := strings.Cut(strings.ToLower(m.text("QUERY_SET_OP_TYPE")), " ")
	how = strings.TrimSpace(how)
	if !slices.Contains([]string{"union", "intersect", "except"}, operation) || !slices.Contains([]string{"", "all", "distinct"}, how) {
		m.bad("QUERY_SET_OP_TYPE", "must be union, intersect or except, also with all or distinct behind it, not %s", short(m.text("QUERY_SET_OP_TYPE")))
	}
	if how == "all" {
		return operation + "-all"
	}
	return operation
}

// windows sets the position of query windows.
func (m *mapping) windows(s *shares) {
	recent := m.truth("IS_RECENT_QUERY")
	switch {
	case recent && s.writes():
		m.out.Queries.Windows = workload.Recent
		m.becomes(Ignored, "without effect where IS_RECENT_QUERY is true", "STEP_SIZE")
		m.setOrigin("IS_RECENT_QUERY", "queries.windows")
		return
	case recent:
		m.becomes(Ignored, "without effect where nothing is written, as in the tool", "IS_RECENT_QUERY")
	}
	steps := m.integer("STEP_SIZE")
	step := m.out.Workload.Interval
	if steps > 0 && step > maxSpan/time.Duration(steps) {
		m.bad("STEP_SIZE", "%d times a POINT_STEP of %s is longer than 200 years; lower it", steps, experiment.DurationText(step))
		return
	}
	m.out.Queries.Windows = workload.SlidingBy(time.Duration(steps) * step)
	m.setOrigin("STEP_SIZE", "queries.windows")
}
