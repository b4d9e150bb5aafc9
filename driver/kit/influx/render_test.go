package influx

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// devices is a schema as iotdb's, whose rows may lack values.
func devices() *series.Schema {
	return &series.Schema{Series: 3, Tables: []*series.Table{{
		Name:   "g_0",
		Tags:   []series.Tag{{Key: "device", Values: series.Numbered{Prefix: "d_"}}},
		Fields: []series.Field{{Name: "s_0", Type: series.Float}, {Name: "at", Type: series.Int}},
	}}}
}

// newest is a query about the newest buckets of devices.
func newest(devices ...string) *query.Query {
	q := &query.Query{Type: "t", Table: "g_0", End: time.Unix(60, 0), Shape: query.Buckets{Aggregate: query.Count, GroupBy: "device", Fields: []string{"s_0"}, Width: time.Minute, Order: query.Descending, Limit: 4}}
	if len(devices) > 0 {
		q.In = &query.TagIn{Key: "device", Values: devices}
	}
	return q
}

// TestGroupsApart checks that InfluxQL merges groups that are read separately in the order of the tag,
// as long as the tag's name comes first.
func TestGroupsApart(t *testing.T) {
	request, err := Render(newest("d_2", "d_10", "d_2"), devices(), InfluxDB)
	if err != nil {
		t.Fatal(err)
	}
	const group = `  SELECT
    count("s_0") AS "device tsmark_zero_count_s_0",
    count("at") AS "tsmark_of_at",
    count("tsmark_null") AS "tsmark_null"
  FROM "g_0"
  WHERE "device" = 'DEVICE'
    AND time < '1970-01-01T00:01:00Z'
  GROUP BY time(1m), "device" fill(none)
`
	want := `SELECT
  "device",
  "device tsmark_zero_count_s_0" AS "tsmark_zero_count_s_0"
FROM (
` + strings.ReplaceAll(group, "DEVICE", "d_10") + `), (
` + strings.ReplaceAll(group, "DEVICE", "d_2") + `)
ORDER BY time DESC
LIMIT 4`
	if request.Text != want {
		t.Errorf("got\n%s\nwant\n%s", request.Text, want)
	}
}

// One group needs no order of groups.
func TestOneGroup(t *testing.T) {
	q := newest("d_2", "d_2")
	q.Filter = &query.ValueFilter{Field: "s_0", And: []string{"at"}, Value: 0.5}
	request, err := Render(q, devices(), InfluxDB)
	if err != nil {
		t.Fatal(err)
	}
	const want = `SELECT count("s_0") AS "count_s_0"
FROM "g_0"
WHERE ("device" = 'd_2' OR "device" = 'd_2')
  AND "s_0" > 0.5
  AND "at" > 0
  AND time < '1970-01-01T00:01:00Z'
GROUP BY time(1m), "device" fill(none)
ORDER BY time DESC
LIMIT 4`
	if request.Text != want {
		t.Errorf("got\n%s\nwant\n%s", request.Text, want)
	}
}

// What InfluxQL cannot order says so.
func TestUnsupported(t *testing.T) {
	for want, q := range map[string]*query.Query{
		"groups in descending order": newest(),
		"in the order of device":     {Table: "g_0", Shape: query.Rows{Tag: "device", Fields: []string{"s_0", "at"}, Order: query.Descending}},
		"no set operations":          {Table: "g_0", Shape: query.RowSet{Tag: "device", Fields: []string{"s_0"}, Set: query.Set{Operation: query.Union, Operands: 2}}},
	} {
		_, err := Render(q, devices(), InfluxDB)
		if !errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
