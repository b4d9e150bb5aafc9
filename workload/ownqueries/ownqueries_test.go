package ownqueries_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/metrics"
	"github.com/tsmark/tsmark/workload/ownqueries"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func spec(scale uint32) workload.Spec {
	start := time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "cpu-only", Seed: 7, Scale: scale, Start: start, End: start.Add(6 * time.Hour), Interval: 10 * time.Second}
}

func busy() ownqueries.Query {
	return ownqueries.Query{
		Name: "busy", Shape: "buckets", Aggregate: "max", Fields: []string{"usage_user"}, Every: time.Minute, Window: time.Hour,
		Where: ownqueries.Where{Tag: "hostname", Draw: 3},
		Above: ownqueries.Above{Field: "usage_idle", Value: ownqueries.Choices{"10", "20.5"}},
	}
}

// drawQueries returns the first queries of a type.
func drawQueries(t *testing.T, w workload.Workload, s workload.Spec, name string, n int) []query.Query {
	t.Helper()
	queries, err := w.Queries(s, name, n)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(queries)
}

// Queries are drawn as declared, the same each time, and whatever other types there are.
func TestQueries(t *testing.T) {
	s, own := spec(20), busy()
	other := own
	other.Name = "other"
	w := ownqueries.AddQueries(tsbs.CPUOnly(), []ownqueries.Query{own})
	list := drawQueries(t, w, s, "busy", 500)
	again := drawQueries(t, ownqueries.AddQueries(tsbs.CPUOnly(), []ownqueries.Query{other, own}), s, "busy", 500)
	d, err := w.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	hosts, thresholds, starts := map[string]int{}, map[float64]int{}, map[time.Time]bool{}
	for i, q := range list {
		if fmt.Sprintf("%v %v", q.In, q.Filter)+q.Start.String() != fmt.Sprintf("%v %v", again[i].In, again[i].Filter)+again[i].Start.String() || q.ID != i {
			t.Fatalf("query %d is another one when it is drawn again", i)
		}
		if err := q.Check(d.Schema().Tables[0]); err != nil {
			t.Fatalf("query %d: %v", i, err)
		}
		if q.End.Sub(q.Start) != time.Hour || q.Start.Before(s.Start) || q.End.After(s.End) || q.Start.Nanosecond()%1000 != 0 {
			t.Fatalf("query %d has the window from %v to %v", i, q.Start, q.End)
		}
		if q.In.Key != "hostname" || len(q.In.Values) != 3 || len(slices.Compact(slices.Sorted(slices.Values(q.In.Values)))) != 3 {
			t.Fatalf("query %d is about %v", i, q.In)
		}
		for _, v := range q.In.Values {
			hosts[v]++
		}
		thresholds[q.Filter.Value]++
		starts[q.Start] = true
	}
	if len(hosts) != 20 || len(starts) < 490 || thresholds[10] < 150 || thresholds[20.5] < 150 {
		t.Errorf("%d hosts, %d starts, thresholds %v: not drawn at random", len(hosts), len(starts), thresholds)
	}
	for v := range hosts {
		if !strings.HasPrefix(v, "host_") {
			t.Errorf("there is no host %s", v)
		}
	}
	s.Seed++
	if other := drawQueries(t, w, s, "busy", 1); other[0].Start.Equal(list[0].Start) {
		t.Error("another seed draws the same")
	}
}

// Types of the workload's own are as they were, and TSBS has texts of them only.
func TestWith(t *testing.T) {
	plain := tsbs.CPUOnly()
	w := ownqueries.AddQueries(plain, []ownqueries.Query{busy()})
	types := w.QueryTypes()
	if n := len(plain.QueryTypes()); len(types) != n+1 || types[n].Name != "busy" || !types[n].Core {
		t.Errorf("the types are %v", types)
	}
	if a, b := drawQueries(t, w, spec(20), "lastpoint", 1), drawQueries(t, plain, spec(20), "lastpoint", 1); a[0].Table != b[0].Table {
		t.Error("lastpoint is another one")
	}
	texted := w.(workload.Texted)
	if _, err := texted.Texts("influx", spec(20), "busy", 1); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("TSBS's texts of an own type: %v", err)
	}
	if _, err := texted.Texts("influx", spec(20), "lastpoint", 1); err != nil {
		t.Error(err)
	}
	if workload.Fingerprint(w, spec(20)) != workload.Fingerprint(plain, spec(20)) {
		t.Error("own queries make another dataset")
	}
	if ownqueries.AddQueries(plain, nil).Name() != plain.Name() {
		t.Error("a workload without own queries is another one")
	}
}

// A filter can draw some of listed values, or have all of them.
func TestListed(t *testing.T) {
	some, all := busy(), busy()
	some.Where = ownqueries.Where{Tag: "region", Values: []string{"a", "b", "c"}, Draw: 2}
	all.Name, all.Where = "all", ownqueries.Where{Tag: "region", Values: []string{"a", "b", "c"}}
	w := ownqueries.AddQueries(tsbs.CPUOnly(), []ownqueries.Query{some, all})
	pairs := map[string]bool{}
	for _, q := range drawQueries(t, w, spec(4), "busy", 100) {
		pairs[strings.Join(q.In.Values, "")] = true
	}
	if len(pairs) != 6 {
		t.Errorf("%d different pairs of three values", len(pairs))
	}
	if q := drawQueries(t, w, spec(4), "all", 1)[0]; strings.Join(q.In.Values, "") != "abc" {
		t.Errorf("all values are %v", q.In.Values)
	}
}

// Values that few series have are found all the same.
func TestRareValues(t *testing.T) {
	q := busy()
	q.Where = ownqueries.Where{Tag: "region", Draw: 9} // TSBS has nine
	list := []ownqueries.Query{q}
	if err := ownqueries.Fit(list, tsbs.CPUOnly(), spec(2000)); err != nil {
		t.Fatal(err)
	}
	for _, q := range drawQueries(t, ownqueries.AddQueries(tsbs.CPUOnly(), list), spec(2000), "busy", 3) {
		if len(q.In.Values) != 9 {
			t.Errorf("%d regions", len(q.In.Values))
		}
	}
}

// A window longer than the dataset is the specification's problem.
func TestWindowTooLong(t *testing.T) {
	q := busy()
	q.Window = 7 * time.Hour
	_, err := ownqueries.AddQueries(tsbs.CPUOnly(), []ownqueries.Query{q}).Queries(spec(4), "busy", 1)
	var bad *workload.SpecError
	if !errors.As(err, &bad) || bad.Setting != "timestamp-end" {
		t.Errorf("the error is %v", err)
	}
}

// Every shape can be declared, and passes the checks of queries.
func TestShapes(t *testing.T) {
	active := ownqueries.Active{Field: "usage_user", Compare: ">", Value: ownqueries.Choices{"50"}}
	having := ownqueries.Condition{Field: "usage_user", Compare: ">=", Value: ownqueries.Choices{"50"}}
	fields := []string{"usage_user"}
	var list []ownqueries.Query
	for _, shape := range ownqueries.Shapes() {
		q := ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Unit: "hostname", Every: time.Hour, Active: active}
		switch shape {
		case "buckets":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Aggregate: "avg", Every: time.Hour, By: "hostname", Order: "desc", Limit: 3}
		case "totals":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Aggregate: "count", By: "hostname"}
		case "rows":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Tag: "hostname", Order: "asc"}
		case "any-rows":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Limit: 3}
		case "row-set":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Set: ownqueries.Set{Operation: "union", All: true}}
		case "last":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, By: "hostname", Tags: []string{"rack"}, Having: having}
		case "means":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Group: []string{"region", "rack"}, Having: having}
		case "unit-means":
			q = ownqueries.Query{Name: shape, Shape: shape, Fields: fields, Group: []string{"region"}, Unit: "hostname"}
		case "promql":
			q = ownqueries.Query{Name: shape, Shape: shape, PromQL: "sum(max_over_time(cpu_usage_user[1h]))", Every: time.Hour, Window: 3 * time.Hour}
		case "active-share", "starts":
			q.Fields, q.Group = nil, []string{"region"}
		default:
			q.Fields = nil
		}
		list = append(list, q)
	}
	if err := ownqueries.Check(list, nil); err != nil {
		t.Fatal(err)
	}
	if err := ownqueries.Fit(list, tsbs.CPUOnly(), spec(4)); err != nil {
		t.Fatal(err)
	}
	w := ownqueries.AddQueries(tsbs.CPUOnly(), list)
	d, err := w.Dataset(spec(4))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		q := drawQueries(t, w, spec(4), list[i].Name, 1)[0]
		if err := q.Check(d.Schema().Tables[0]); err != nil {
			t.Errorf("%s: %v", list[i].Name, err)
		}
		if q.Shape == nil {
			t.Errorf("%s has no shape", list[i].Name)
		}
	}
}

// Each mistake has a path and a line of its own.
func TestWrong(t *testing.T) {
	good := busy()
	for _, c := range []struct {
		change func(*ownqueries.Query)
		want   string
	}{
		{func(q *ownqueries.Query) { q.Name = "" }, "[0].name: is missing"},
		{func(q *ownqueries.Query) { q.Name = "a@b" }, `[0].name: "a@b" must be letters`},
		{func(q *ownqueries.Query) { q.Name = "all" }, `[0].name: "all" is another query type already`},
		{func(q *ownqueries.Query) { q.Name = "lastpoint" }, `[0].name: "lastpoint" is a query type of cpu-only already`},
		{func(q *ownqueries.Query) { q.Table = "cpus" }, `[0].table: the dataset has no table "cpus"; did you mean "cpu"`},
		{func(q *ownqueries.Query) { q.Fields = []string{"usage_user", "usage_sys"} }, `[0].fields[1]: table cpu has no field "usage_sys"; did you mean`},
		{func(q *ownqueries.Query) { q.By = "host" }, `[0].by: table cpu has no tag "host"; did you mean "os" or "hostname"`},
		{func(q *ownqueries.Query) { q.Where.Draw = 21 }, "[0].where.draw: 21 values of tag hostname cannot be drawn, because the dataset has 20"},
		{func(q *ownqueries.Query) { q.Where = ownqueries.Where{Tag: "rack"} }, "[0].where: has no values"},
		{func(q *ownqueries.Query) { q.Above.Value = nil }, "[0].above.value: is missing"},
		{func(q *ownqueries.Query) { q.Above.Value = ownqueries.Choices{"90", "NaN"} }, `[0].above.value[1]: "NaN" is not a number`},
		{func(q *ownqueries.Query) { q.Every = 0 }, "[0]: shape buckets needs every"},
		{func(q *ownqueries.Query) { q.Group = []string{"rack"} }, "[0].group: shape buckets has no group"},
		{func(q *ownqueries.Query) { q.Aggregate = "mean" }, `[0].aggregate: there is no aggregate "mean"`},
		{func(q *ownqueries.Query) { q.Limit = 3 }, "[0]: it limits buckets that have no order"},
		{func(q *ownqueries.Query) { q.NoStart, q.Window = true, 0 }, "[0].no-start: needs a window"},
		{func(q *ownqueries.Query) { q.Ordered = true }, "[0].ordered: is for queries with texts"},
		{func(q *ownqueries.Query) { q.Texts = ownqueries.Texts{"sql": "SELECT 1"} }, "a query has a shape and what that needs, or texts"},
	} {
		q := good
		c.change(&q)
		list := []ownqueries.Query{q}
		err := ownqueries.Check(list, []string{"all", "core"})
		if err == nil {
			err = ownqueries.Fit(list, tsbs.CPUOnly(), spec(20))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := ownqueries.Check([]ownqueries.Query{good, good}, nil); err == nil || !strings.Contains(err.Error(), "[1].name") {
		t.Errorf("two of one name: %v", err)
	}
}

// Only a single reading statement is accepted as a query, as far as a simple check can tell.
func TestReads(t *testing.T) {
	for text, reads := range map[string]bool{
		"SELECT 1;": true,
		"-- DELETE it\nselect 'DROP; x' FROM cpu":   true,
		"/* a; b */ WITH x AS (SELECT 1) SELECT 1":  true,
		`SELECT "update" FROM cpu`:                  true,
		"SELECT replace(hostname, 'a', 'b') FROM t": true,
		"":                         false,
		"DROP TABLE cpu":           false,
		"SELECT 1; SELECT 2":       false,
		"SELECT 1; DROP TABLE cpu": false,
		"WITH x AS (DELETE FROM cpu RETURNING *) SELECT 1": false,
		"SELECT * INTO other FROM cpu":                     false,
	} {
		q := ownqueries.Query{Name: "x", Texts: ownqueries.Texts{"sql": text}}
		if err := ownqueries.Check([]ownqueries.Query{q}, nil); (err == nil) != reads {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Texts have their parameters drawn, and other texts are other queries.
func TestTexts(t *testing.T) {
	q := ownqueries.Query{
		Name: "x", Window: time.Hour, Reference: "SELECT 1", Texts: ownqueries.Texts{"sql": "SELECT {{hosts}} {{least}} {{start}}", "questdb": "SELECT {{hosts}}"},
		Parameters: []ownqueries.Parameter{{Name: "hosts", Tag: "hostname", Draw: 2}, {Name: "least", Values: []string{"1", "2.5e3"}}},
	}
	list := []ownqueries.Query{q}
	if err := errors.Join(ownqueries.Check(list, nil), ownqueries.Fit(list, tsbs.CPUOnly(), spec(20))); err != nil {
		t.Fatal(err)
	}
	one := drawQueries(t, ownqueries.AddQueries(tsbs.CPUOnly(), list), spec(20), "x", 1)[0]
	l := literals()
	text, err := q.Text(&one, "questdb", &l)
	if err != nil || strings.Count(text, "host_") != 2 || strings.Contains(text, "2016") {
		t.Errorf("QuestDB's text is %q, %v", text, err)
	}
	text, err = q.Text(&one, "sqlite", &l)
	if err != nil || !strings.Contains(text, "2016-01-01T") || strings.Contains(text, "'2.5e3'") || strings.Contains(text, "'1'") {
		t.Errorf("SQLite's text is %q, %v", text, err)
	}
	l.Unsupported = "with these options"
	if _, err := q.Text(&one, "sqlite", &l); !errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), l.Unsupported) || q.IsFor("sqlite", &l) {
		t.Errorf("with options that rule texts out: %v", err)
	}
	l.Unsupported, l.Language = "", "influxql"
	if _, err := q.Text(&one, "influxdb", &l); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("InfluxDB's text: %v", err)
	}
	if _, err := q.Text(&one, "null", nil); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("the text of a driver that takes none: %v", err)
	}
	other := q
	other.Reference = "SELECT 2"
	again := drawQueries(t, ownqueries.AddQueries(tsbs.CPUOnly(), []ownqueries.Query{other}), spec(20), "x", 1)[0]
	a, b := query.NewFingerprint(), query.NewFingerprint()
	if err := errors.Join(a.Add(&one), b.Add(&again)); err != nil || a.String() == b.String() {
		t.Error("queries with other texts have the same fingerprint")
	}
}

func TestReadTexts(t *testing.T) {
	folder := fstest.MapFS{
		"x.sql":               {Data: []byte("SELECT 1")},
		"x.questdb.sql":       {Data: []byte("SELECT 2")},
		"x.influxdb.influxql": {Data: []byte("SELECT 3")},
		"x.reference.sql":     {Data: []byte("SELECT 4")},
		"x.yaml":              {Data: []byte("- name: x")},
		"xy.sql":              {Data: []byte("SELECT 5")},
		"x.a.b.sql":           {Data: []byte("SELECT 6")},
	}
	q := ownqueries.Query{Name: "x"}
	from, err := q.ReadTexts(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Texts) != 3 || q.Texts["sql"] != "SELECT 1" || q.Texts["questdb"] != "SELECT 2" || q.Texts["influxdb"] != "SELECT 3" || q.Reference != "SELECT 4" {
		t.Errorf("the texts are %v, the reference %q", q.Texts, q.Reference)
	}
	if from["texts.questdb"] != "x.questdb.sql" || from["reference"] != "x.reference.sql" {
		t.Errorf("they are from %v", from)
	}
	none := ownqueries.Query{Name: "z"}
	if _, err := none.ReadTexts(folder); err == nil || !strings.Contains(err.Error(), "z.sql") {
		t.Errorf("without files: %v", err)
	}
}

// An expression of PromQL is filled in with values of a metric's series, numbers and durations, drawn for each
// query.
func TestPromQLParameters(t *testing.T) {
	s := spec(10)
	s.Name, s.Interval = metrics.Name, 15*time.Second
	own := ownqueries.Query{
		Name: "pods", Shape: "promql", Window: time.Hour, Every: time.Minute,
		PromQL: `topk({{most}}, rate(container_cpu_usage_seconds_total{pod=~{{pods:regexp}}, namespace={{namespace}}}[{{range}}]))`,
		Parameters: []ownqueries.Parameter{
			{Name: "most", Values: []string{"3", "5"}}, {Name: "pods", Table: "container_cpu_usage_seconds_total", Tag: "pod", Draw: 2},
			{Name: "namespace", Table: "container_cpu_usage_seconds_total", Tag: "namespace"}, {Name: "range", Values: []string{"5m", "1h30m"}},
		},
	}
	list := []ownqueries.Query{own}
	if err := errors.Join(ownqueries.Check(list, nil), ownqueries.Fit(list, metrics.Workload(), s)); err != nil {
		t.Fatal(err)
	}
	w := ownqueries.AddQueries(metrics.Workload(), list)
	queries := drawQueries(t, w, s, "pods", 20)
	form := regexp.MustCompile(`^topk\([35], rate\(container_cpu_usage_seconds_total\{pod=~"\^\([a-z0-9\\-]+\|[a-z0-9\\-]+\)\$", namespace="[a-z-]+"\}\[(5m|1h30m)\]\)\)$`)
	seen := map[string]bool{}
	for i := range queries {
		shape, _ := queries[i].AsPromQL()
		if seen[shape.Expr] = true; !form.MatchString(shape.Expr) || shape.Step != time.Minute || queries[i].Check(nil) != nil {
			t.Errorf("query %d is %s", i, shape.Expr)
		}
	}
	if len(seen) < 18 {
		t.Errorf("only %d of %d expressions are different", len(seen), len(queries))
	}
	// The oracle answers them.
	d, err := w.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oracle.Rows(t.Context(), d, &queries[0]); err != nil {
		t.Error(err)
	}
}

func TestPromQLParametersWrong(t *testing.T) {
	for want, q := range map[string]ownqueries.Query{
		"[0].promql: {{pods}} stands for 2 values; write {{pods:regexp}} after =~": {
			PromQL: "up{pod={{pods}}}", Parameters: []ownqueries.Parameter{{Name: "pods", Tag: "pod", Draw: 2}}},
		"[0].promql: {{pod}} is not declared in parameters":                      {PromQL: "up{pod={{pod}}}"},
		"[0].parameters[0].name: no text has {{pod}}":                            {PromQL: "up", Parameters: []ownqueries.Parameter{{Name: "pod", Tag: "pod"}}},
		`[0].promql: rate(up["x"]) is not PromQL: `:                              {PromQL: "rate(up[{{range}}])", Parameters: []ownqueries.Parameter{{Name: "range", Values: []string{"x"}}}},
		"[0].promql: {{start}} is not declared in parameters":                    {PromQL: "up @ {{start}}", Window: time.Hour},
		`[0].promql: {{pod}} adds quotes itself; remove the quotes around it`:    {PromQL: `up{pod="{{pod}}"}`, Parameters: []ownqueries.Parameter{{Name: "pod", Tag: "pod"}}},
		"[0].parameters: is for queries with texts; leave it out, or give texts": {Shape: "buckets", Aggregate: "max", Fields: []string{"value"}, Every: time.Minute, Parameters: []ownqueries.Parameter{{Name: "pod", Tag: "pod"}}},
	} {
		q.Name = "own"
		if q.Shape == "" {
			q.Shape = "promql"
		}
		if err := ownqueries.Check([]ownqueries.Query{q}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
