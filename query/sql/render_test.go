package sql

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// testDialect returns a dialect whose parameters are easily told apart in its text.
func testDialect() *Dialect {
	return &Dialect{
		Name:      "Test",
		Precision: time.Millisecond,
		Time:      func(t time.Time) string { return "t" + t.UTC().Format("05.000") },
		Bucket:    func(w time.Duration, e string) string { return "bucket(" + w.String() + ", " + e + ")" },
		Seconds:   func(from, to string) string { return "seconds(" + from + ", " + to + ")" },
		Words:     " order ",
	}
}

func schema() *series.Schema {
	shared := []series.Tag{{Key: "host"}, {Key: "Data center"}}
	return &series.Schema{Tables: []*series.Table{
		{Name: "cpu", Tags: shared, Fields: []series.Field{{Name: "order", Type: series.Int}, {Name: "load", Type: series.Float}}},
		{Name: "mem", Tags: shared, Fields: []series.Field{{Name: "free", Type: series.Int}}},
		{Name: "disk", Tags: []series.Tag{{Key: "host"}, {Key: "Data center"}}, Fields: []series.Field{{Name: "free", Type: series.Int}}},
	}}
}

func TestRender(t *testing.T) {
	for name, test := range map[string]struct {
		q    query.Query
		want string
	}{
		"names and texts are quoted": {
			query.Query{Table: "cpu", In: &query.TagIn{Key: "Data center", Values: []string{"it's", "日本", `"\`}}, Shape: query.Buckets{Aggregate: query.Max, GroupBy: "Data center", Fields: []string{"order"}, Width: time.Second}},
			`SELECT
  bucket(1s, cpu.time) AS time,
  tags."Data center",
  max(cpu."order") AS max_order
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags."Data center" IN ('it''s', '日本', '"\')
GROUP BY 1, 2`,
		},
		"bounds are rounded up": {
			query.Query{Table: "mem", Start: time.Unix(-1, 1), End: time.Unix(2, 3_000_000), Shape: query.AnyRows{Fields: []string{"free"}, Limit: 7}},
			`SELECT
  time,
  free
FROM mem
WHERE time >= t59.001
  AND time < t02.003
LIMIT 7`,
		},
		"thresholds of whole numbers are whole": {
			query.Query{Table: "cpu", Filter: &query.ValueFilter{Field: "order", Value: -0.5}, Shape: query.Rows{Fields: []string{"order"}}},
			`SELECT
  time,
  "order"
FROM cpu
WHERE "order" > -1`,
		},
		"thresholds of floats are doubles": {
			query.Query{Table: "cpu", Filter: &query.ValueFilter{Field: "load", Value: 90}, Shape: query.Rows{Fields: []string{"load"}, Order: query.Descending}},
			`SELECT
  time,
  load
FROM cpu
WHERE load > 90e0
ORDER BY 1 DESC`,
		},
		"tags of its own": {
			query.Query{Table: "disk", Shape: query.Buckets{Aggregate: query.Avg, GroupBy: "host", Fields: []string{"free"}, Width: time.Second, Order: query.Descending, Limit: 3}},
			`SELECT
  bucket(1s, disk.time) AS time,
  disk_tags.host,
  avg(disk.free) AS mean_free
FROM disk
JOIN disk_tags ON disk_tags.id = disk.tags_id
WHERE disk_tags.host IS NOT NULL
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
LIMIT 3`,
		},
		"last rows among the matching ones": {
			query.Query{Table: "cpu", In: &query.TagIn{Key: "host", Values: []string{"a"}}, Filter: &query.ValueFilter{Field: "load", Value: 1e-300}, End: time.Unix(1, 0), Shape: query.Last{By: "host", Fields: []string{"load"}}},
			`SELECT DISTINCT ON (tags.host)
  cpu.time,
  tags.host,
  cpu.load
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM cpu
  WHERE tags_id IN (SELECT id FROM tags WHERE host IN ('a'))
    AND load > 1e-300
    AND time < t01.000
  GROUP BY 1
) AS newest ON newest.tags_id = cpu.tags_id AND newest.time = cpu.time
WHERE tags.host IN ('a')
  AND cpu.load > 1e-300
  AND cpu.time < t01.000
ORDER BY tags.host, cpu.time DESC`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := testDialect().Render(&test.q, schema())
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestRenderErrors(t *testing.T) {
	buckets := func(set func(*query.Buckets)) func(*query.Query) {
		return func(q *query.Query) {
			s := q.Shape.(query.Buckets)
			set(&s)
			q.Shape = s
		}
	}
	good := query.Query{Type: "q", Table: "cpu", Shape: query.Buckets{Aggregate: query.Max, Fields: []string{"load"}, Width: time.Second}}
	if _, err := testDialect().Render(&good, schema()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change      func(*query.Query)
		says        string
		unsupported bool
	}{
		"table":          {func(q *query.Query) { q.Table = "gpu" }, `no table "gpu"`, false},
		"no field":       {buckets(func(s *query.Buckets) { s.Fields = nil }), "no field", false},
		"field":          {buckets(func(s *query.Buckets) { s.Fields = []string{"x"} }), `no field "x"`, false},
		"tag":            {buckets(func(s *query.Buckets) { s.GroupBy = "x" }), `no tag "x"`, false},
		"filter's tag":   {func(q *query.Query) { q.In = &query.TagIn{Key: "x", Values: []string{"a"}} }, `no tag "x"`, false},
		"empty filter":   {func(q *query.Query) { q.In = &query.TagIn{Key: "host"} }, "no values", false},
		"NUL":            {func(q *query.Query) { q.In = &query.TagIn{Key: "host", Values: []string{"a\x00b"}} }, "NUL", true},
		"filter's field": {func(q *query.Query) { q.Filter = &query.ValueFilter{Field: "x"} }, `no field "x"`, false},
		"NaN":            {func(q *query.Query) { q.Filter = &query.ValueFilter{Field: "load", Value: math.NaN()} }, "not a number", false},
		"infinity":       {func(q *query.Query) { q.Filter = &query.ValueFilter{Field: "load", Value: math.Inf(1)} }, "not a number", false},
		"aggregate":      {buckets(func(s *query.Buckets) { s.Aggregate = "median" }), "median", true},
		"no width":       {buckets(func(s *query.Buckets) { s.Width = 0 }), "no width", false},
		"narrow bucket":  {buckets(func(s *query.Buckets) { s.Width = 1500 * time.Microsecond }), "multiples of 1ms", true},
		"shape":          {func(q *query.Query) { q.Shape = nil }, "no shape", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := good
			test.change(&q)
			text, err := testDialect().Render(&q, schema())
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, query.ErrUnsupported) != test.unsupported {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestIdent(t *testing.T) {
	for name, want := range map[string]string{
		"usage_user": "usage_user", "x9": "x9", "_": "_", "9x": `"9x"`, "Host": `"Host"`, "order": `"order"`,
		"mem.free": `"mem.free"`, `a"b`: `"a""b"`, "é": `"é"`, "": `""`,
	} {
		if got := testDialect().Ident(name); got != want {
			t.Errorf("Ident(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestTagsTable(t *testing.T) {
	s := schema()
	for i, want := range []string{"tags", "tags", "disk_tags"} {
		if got := TagsTable(s, s.Tables[i]); got != want {
			t.Errorf("%s: got %s, want %s", s.Tables[i].Name, got, want)
		}
	}
}
