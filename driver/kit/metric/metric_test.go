package metric

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// sample is one as an answer has it.
type sample struct {
	labels [][2]string
	at     float64
	value  string
}

func join(t *testing.T, p *Plan, samples []sample) []string {
	t.Helper()
	var j Joiner
	j.Begin(p)
	for _, s := range samples {
		j.Series()
		for _, l := range s.labels {
			j.Label(l[0], l[1])
		}
		if err := j.EndLabels(); err != nil {
			t.Fatal(err)
		}
		row := []query.Value{{Kind: query.Float, Float: s.at}, {Kind: query.Text, Text: []byte(s.value)}}
		if err := j.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	var answer query.Answer
	n, err := j.Rows(&answer)
	if counted, _ := j.Rows(nil); err != nil || counted != n || n != int64(len(answer.Rows)) {
		t.Errorf("%d rows, %d counted, %d given: %v", n, counted, len(answer.Rows), err)
	}
	var rows []string
	for _, row := range answer.Rows {
		rows = append(rows, query.RowText(row))
	}
	return rows
}

// Samples of one time and the same labels are one row, in whatever order they come.
func TestJoin(t *testing.T) {
	of := func(name, host string) [][2]string { return [][2]string{{"__name__", name}, {"host", host}} }
	samples := []sample{
		{of("cpu_a", "h1"), 20, "2"}, {of("cpu_a", "h2"), 10, "5"}, {of("cpu_b", "h1"), 20, "0.5"},
		{of("cpu_b", "h1"), 10.001, "7"},                                // earlier than the sample before
		{of(RowName, "h1"), 30, "1"},                                    // a row without a value
		{append(of("cpu_a", "h2"), [2]string{PartLabel, "1"}), 40, "9"}, // another part of the same series
	}
	p := Plan{Timed: true, Shift: 1000, Tags: []Tag{{Label: "host"}}, Fields: []Field{{Name: "cpu_a"}, {Name: "cpu_b", Count: true}}, Order: query.Ascending}
	want := []string{
		"1970-01-01T00:00:11Z, h2, 5, 0", "1970-01-01T00:00:11.001Z, h1, NULL, 7", "1970-01-01T00:00:21Z, h1, 2, 0.5",
		"1970-01-01T00:00:31Z, h1, NULL, 0", "1970-01-01T00:00:41Z, h2, 9, 0",
	}
	if diff := cmp.Diff(want, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
	p.Order, p.Limit = query.Descending, 2
	if diff := cmp.Diff([]string{want[4], want[3]}, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
}

// The newest row has its time from a series of its own, and each tag one row.
func TestJoinNewest(t *testing.T) {
	samples := []sample{
		{[][2]string{{"__name__", "m_a"}, {"host", "h1"}, {"w", "0.5"}}, 99, "2.25"},
		{[][2]string{{"__name__", TimeName}, {"host", "h1"}, {"w", "0.5"}}, 99, "10.001"},
		{[][2]string{{"__name__", TimeName}, {"host", "h1"}}, 99, "10.001"},
	}
	p := Plan{Timed: true, One: true, Tags: []Tag{{Label: "host"}, {Label: "w", Number: true}}, Fields: []Field{{Name: "m_a"}}}
	if diff := cmp.Diff([]string{"1970-01-01T00:00:10.001Z, h1, 0.5, 2.25"}, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
}

// Tables that no system of metrics can hold are told beforehand.
func TestCheck(t *testing.T) {
	held := map[series.Type]driver.Stored{series.Float: {As: "double"}}
	table := func(name string, fields ...series.Field) *series.Table {
		return &series.Table{Name: name, Tags: []series.Tag{{Key: "host"}}, Fields: fields}
	}
	number := func(name string) series.Field { return series.Field{Name: name, Type: series.Float} }
	for name, c := range map[string]struct {
		tables []*series.Table
		says   string
	}{
		"numbers":         {[]*series.Table{table("cpu", number("a"), number("cpu"))}, ""},
		"a text":          {[]*series.Table{table("cpu", series.Field{Name: "s", Type: series.Text})}, "field s of table cpu is of the type text, and X holds numbers alone; choose another target, or a dataset without such fields"},
		"one metric":      {[]*series.Table{table("a_b", number("c")), table("a", number("b_c"))}, "fields of the tables a_b and a would both be the metric a_b_c: rename one"},
		"the note":        {[]*series.Table{table(NoteTable, number("a"))}, "a table is called tsmark_mark, which is tsmark's own: rename it"},
		"a line break":    {[]*series.Table{table("cpu", number("a\nb"))}, `table cpu has something called "a\nb", which line protocol cannot say: rename it`},
		"a tag and field": {[]*series.Table{table("cpu", number("host"))}, "two tags or fields of table cpu are called host, or it is the name of metrics: rename one"},
	} {
		err := (&Limits{System: "X", Types: held, Name: LineName}).Check(&series.Schema{Tables: c.tables})
		if (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
}

// TestJoinMust checks that a row without a required value is dropped, and that a hidden column is not
// part of the row. For tags, the row is dropped before the newest row of each tag is chosen.
func TestJoinMust(t *testing.T) {
	of := func(name, host string) [][2]string {
		return [][2]string{{"__name__", name}, {"host", host}, {"rack", "r"}}
	}
	samples := []sample{
		{of("m_a", "h1"), 10, "1"}, {of("m_b", "h1"), 10, "2"}, {of("m_a", "h1"), 20, "3"}, // the newer one has no b
		{of("m_a", "h2"), 20, "4"}, {of("m_b", "h2"), 20, "5"}, {of("m_b", "h2"), 10, "6"},
		{[][2]string{{"__name__", "m_a"}, {"host", "h4"}, {"rack", ""}}, 20, "7"}, {[][2]string{{"__name__", "m_b"}, {"host", "h4"}, {"rack", ""}}, 20, "8"},
	}
	p := Plan{Timed: true, Tags: []Tag{{Label: "host"}}, Fields: []Field{{Name: "m_a"}, {Name: "m_b", Must: true, Hidden: true}}, Order: query.Ascending}
	want := []string{"1970-01-01T00:00:10Z, h1, 1", "1970-01-01T00:00:10Z, h2, NULL", "1970-01-01T00:00:20Z, h2, 4", "1970-01-01T00:00:20Z, h4, 7"}
	if diff := cmp.Diff(want, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
	p.One = true
	if diff := cmp.Diff([]string{want[2], want[3]}, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
	// A row that lacks a tag that it must have does not compete.
	p.Tags = append(p.Tags, Tag{Label: "rack", Must: true, Hidden: true})
	for _, name := range []string{"m_a", "m_b"} {
		samples = append(samples, sample{[][2]string{{"__name__", name}, {"host", "h2"}, {"rack", ""}}, 30, "9"})
	}
	if diff := cmp.Diff([]string{want[2]}, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
}

// Of several notes the newest counts that is whole.
func TestNotes(t *testing.T) {
	notes := Notes{}
	for at, text := range map[int64]string{5: "an older note", 9: "the note"} {
		parts := NoteParts(text, 4)
		for i, part := range parts {
			notes.Add(at, i, len(parts), part)
		}
	}
	notes.Add(12, 0, 2, "aaaa")
	if text, err := notes.Text(); text != "the note" || err != nil {
		t.Error(text, err)
	}
	if text, err := (Notes{}).Text(); text != "" || err != nil {
		t.Error(text, err)
	}
	half := Notes{}
	half.Add(1, 1, 2, "aaaa")
	if _, err := half.Text(); err == nil {
		t.Error("a part of a note is taken for one")
	}
}

// Rows are left out by their values: before the newest are chosen, and behind that.
func TestJoinConditions(t *testing.T) {
	of := func(name, host, size string) [][2]string {
		return [][2]string{{"__name__", name}, {"host", host}, {"size", size}}
	}
	samples := []sample{
		{of("sum", "h1", "10"), 10, "6"}, {of("n", "h1", "10"), 10, "2"},
		{of("sum", "h1", "10"), 20, "8"}, {of("n", "h1", "10"), 20, "2"},
		{of("sum", "h1", "10"), 30, "1"}, {of("n", "h1", "10"), 30, "1"},
		{of("sum", "h2", "0"), 30, "9"}, {of("n", "h2", "0"), 30, "1"},
	}
	least := 2.5
	p := Plan{Timed: true, Tags: []Tag{{Label: "host"}, {Label: "size", Number: true, Hidden: true}}, Order: query.Ascending,
		Fields: []Field{{Name: "sum", Divisor: "n", Filter: &least}, {Name: "n", Hidden: true}}}
	want := []string{"1970-01-01T00:00:10Z, h1, 3", "1970-01-01T00:00:20Z, h1, 4", "1970-01-01T00:00:30Z, h2, 9"}
	if diff := cmp.Diff(want, join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
	p.One, p.Fields[0].Keep = true, &Condition{Compare: query.Greater, Value: 0.3, DivideBy: "size"}
	if diff := cmp.Diff(want[1:2], join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
	p.Fields[0].Keep.Value = 0.5
	if diff := cmp.Diff([]string(nil), join(t, &p, samples)); diff != "" {
		t.Error(diff)
	}
}

// Data that a system of metrics cannot hold is refused by one line that says why.
func TestLimits(t *testing.T) {
	gauge := func() *series.Table {
		return &series.Table{Name: "up", Metric: &series.Metric{Kind: series.Gauge}, Tags: []series.Tag{{Key: "job"}, {Key: "instance"}}, Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}}}
	}
	for says, change := range map[string]func(*series.Table){
		"": func(*series.Table) {},
		"of a type that tsmark does not know (9)":                                                             func(t *series.Table) { t.Metric.Kind = 9 },
		"metric up is a native histogram, which X does not have: give the dataset metrics.histograms=classic": func(t *series.Table) { t.Metric.Native = &series.Native{} },
		"table up has 3 tags, but X stores only 2 (-most): remove some":                                       func(t *series.Table) { t.Tags = append(t.Tags, series.Tag{Key: "pod"}) },
		`something called "a b", which X cannot say: rename it`:                                               func(t *series.Table) { t.Tags[0].Key = "a b" },
		"or it is the name of metrics: rename one":                                                            func(t *series.Table) { t.Tags[0].Key = "__name__" },
	} {
		table := gauge()
		change(table)
		l := Limits{System: "X", Types: map[series.Type]driver.Stored{series.Float: {As: "double"}}, Labels: 2, LabelLimit: "-most", Native: "X does not have", Name: func(name string) string {
			if strings.Contains(name, " ") {
				return "X cannot say"
			}
			return ""
		}}
		err := l.Check(&series.Schema{Tables: []*series.Table{table}})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%v: want %q", err, says)
		}
	}
}

// The fields of a native histogram are one metric, named by its table.
func TestMetricNames(t *testing.T) {
	native := &series.Table{Name: "d", Metric: &series.Metric{Kind: series.Histogram, Native: &series.Native{}}, Fields: []series.Field{{Name: series.NativeCount}, {Name: series.NativeSum}}}
	cpu := &series.Table{Name: "cpu", Fields: []series.Field{{Name: "user"}}}
	var names []string
	for _, o := range Objects(&series.Schema{Tables: []*series.Table{native, cpu}}, Name) {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff([]string{"d", "d_tsmark_null", "cpu_user", "cpu_tsmark_null"}, names); diff != "" {
		t.Error(diff)
	}
}
