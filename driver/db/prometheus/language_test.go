package prometheus

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// TestClosed checks that ranges are a millisecond shorter for Prometheus 2, whose ranges contain both
// of their ends. Quoted text is not changed.
func TestClosed(t *testing.T) {
	for expression, want := range map[string]string{
		`m[60s]`:     `m[59s999ms]`,
		`m[353ms]`:   `m[352ms]`,
		`m[13s1ms]`:  `m[13s]`,
		`m[2ms]`:     `m[1ms]`,
		`f(m[1ms])`:  `f(m[1ms])`, // of rows at multiples of an interval
		`(a)[1s:1d]`: `(a)[999ms:1d]`,
		`sum(x{a="[5s]", b=~"\"[5s]\\"}[2s:1s] @ 3) + m[1s]`: `sum(x{a="[5s]", b=~"\"[5s]\\"}[1s999ms:1s] @ 3) + m[999ms]`,
		`m[4099766400.0014]`: `m[4099766400s]`,
		`up`:                 `up`,
	} {
		if got := shortenRanges(expression); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
}

// Names that old versions cannot be queried with are escaped as Prometheus does it.
func TestEscaped(t *testing.T) {
	for name, want := range map[string]string{
		"cpu_usage_user": "cpu_usage_user", "__name__": "__name__", "A1": "A1", "1a": "U__1a",
		"Data center_2": "U__Data_20_center__2", "größe": "U__gr_F6__DF_e",
	} {
		if got := escapeName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "15d": 15 * 24 * time.Hour, "1y2h3ms": (365*24+2)*time.Hour + 3*time.Millisecond, "5": 0, "s": 0, "5x": 0, "1m30s": 90 * time.Second,
	} {
		if got := duration(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A long range of milliseconds would lose one in systems that print queries and parse them again; a bound beyond
// all rows gives it whole seconds.
func TestLongWindows(t *testing.T) {
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
	table := schema.Tables[0]
	start := time.UnixMilli(2_817_000_353)
	for _, c := range []struct {
		start, end time.Time
		at, length string
	}{
		{at: `"at":2147483647000,`, length: "[2144805248s]"},
		{start: start, at: `"at":2147483646352,`, length: "[2144666646s]"},
		{end: start.Add(1000 * time.Hour), at: `"at":6417000352,`, length: "[3738601s]"},
		{start: start, end: start.Add(1000*time.Hour + time.Millisecond), at: `"at":6417000353,`, length: "[3600000.0014]"},
	} {
		q := query.Query{Type: "q", Table: table.Name, Shape: query.Rows{Fields: []string{table.Fields[0].Name}}, Start: c.start, End: c.end}
		request, err := render(&q, schema, nil)
		if err != nil || !strings.Contains(request.Text, c.at) || !strings.Contains(request.Text, c.length) {
			t.Errorf("%v to %v: %s, %v", c.start, c.end, request.Text, err)
		}
	}
}

// A PromQL expression is the user's, so it is not run on metrics that are stored by other names than its own, nor
// where its answer would have other labels.
func TestOtherNames(t *testing.T) {
	const name, label = "the metric a_x.y is stored as U__a__x_2E_y; rename table or field", "the tag device.id of table b is stored as the label U__device_2E_id; rename it"
	values := series.Numbered{Prefix: "h"}
	schema := &series.Schema{Series: 1, Tables: []*series.Table{
		{Name: "a", Tags: []series.Tag{{Key: "host", Values: values}}, Fields: []series.Field{{Name: "v", Type: series.Float}, {Name: "x.y", Type: series.Float}}},
		{Name: "b", Tags: []series.Tag{{Key: "host", Values: values}, {Key: "device.id", Values: values}}, Fields: []series.Field{{Name: "v", Type: series.Float}}},
	}}
	for expr, want := range map[string]string{
		"a_v": "", "sum by (host) (rate(a_v[1m]))": "", "vector(1)": "", `{__name__=~"a_v|c"}`: "",
		`{"a_x.y"}`: name, "U__a__x_2E_y": name, `sum(a_v) + sum({__name__=~"a_.*"})`: name, `{host="h0"}`: name,
		"b_v": label, "b_tsmark_null": label, `max_over_time(a_v[1m]) / on (host) b_v`: label,
	} {
		q := query.Query{Type: "q", Shape: query.PromQL{Expr: expr}, End: time.Unix(1, 0)}
		_, err := render(&q, schema, nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", expr, err)
		case want != "":
			if stub.Says(t, err, want); !errors.Is(err, query.ErrUnsupported) {
				t.Errorf("%s: %v", expr, err)
			}
		}
	}
}

// A newest row is looked for as far back as the query says, or not at all.
func TestLookback(t *testing.T) {
	day := int64(24 * time.Hour / time.Millisecond)
	for _, c := range []struct {
		server     server
		back       int64
		sent, says string
	}{
		{server{lookback: true}, day, "86401", ""},
		{server{lookback: true}, 0, "", ""},
		{server{reaches: 100 * 24 * time.Hour}, day, "", ""},
		{server{reaches: 5 * time.Minute, version: "2.42.0"}, day, "", "start it with --query.lookback-delta=200y, or use version 2.43"},
		{server{reaches: 5 * time.Minute}, 0, "", ""},
	} {
		form, err := c.server.form(&metric.Plan{Expression: "up", Lookback: c.back})
		switch {
		case c.says != "":
			stub.Says(t, err, c.says)
		case err != nil || form.Get("lookback_delta") != c.sent:
			t.Errorf("%+v: %v, %v", c, form, err)
		}
	}
}

// Settings with which rows would be refused or lost are found before a load.
func TestInspect(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	writable := map[string]string{"web.enable-remote-write-receiver": "true"}
	for _, c := range []struct {
		flags   map[string]string
		limits  bounds
		oldData string
		says    string
	}{
		{writable, bounds{"100y", "100y"}, oldChecked, ""},
		{map[string]string{"enable-feature": "remote-write-receiver"}, bounds{"100y", "100y"}, oldChecked, ""},
		{map[string]string{}, bounds{"100y", "100y"}, oldAny, "start it with --web.enable-remote-write-receiver"},
		{writable, bounds{"100y", ""}, oldChecked, "older than its newest ones by 15d: start it with --storage.tsdb.retention.time=100y"},
		{writable, bounds{"100y", "30d"}, oldChecked, "by 30d"},
		{writable, bounds{"", "100y"}, oldChecked, "out_of_order_time_window (0s)"},
		{writable, bounds{"1h", "100y"}, oldChecked, "set storage.tsdb.out_of_order_time_window to 100y"},
		{writable, bounds{}, oldAny, ""},
	} {
		err := (&settings{oldData: c.oldData}).check(c.flags, c.limits, true, now)
		if c.says != "" {
			stub.Says(t, err, c.says)
		} else if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := (&settings{oldData: oldChecked}).check(writable, bounds{"", "100y"}, false, now); err != nil { // rows are written in order
		t.Error(err)
	}
}
