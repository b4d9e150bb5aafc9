package sql

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

func metricDialect() *Dialect {
	d := testDialect()
	d.Time = func(t time.Time) string { return fmt.Sprint("t", t.UnixMilli()) }
	d.Metrics = &Metrics{
		Milliseconds:     func(time string) string { return "ms(" + time + ")" },
		FromMilliseconds: func(ms string) string { return "moment(" + ms + ")" },
		Double:           "double",
		Numbers:          func(count int64) string { return fmt.Sprintf("range(%d) AS numbers(n)", count) },
		Matches:          func(text, pattern string) string { return fmt.Sprintf("matches(%s, %s)", text, pattern) },
	}
	return d
}

func metricSchema() *series.Schema {
	return &series.Schema{Tables: []*series.Table{{
		Name: "requests_total", Tags: []series.Tag{{Key: "job"}, {Key: "order"}},
		Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
		Metric: &series.Metric{Kind: series.Counter, Family: "requests"},
	}}}
}

// overQuery returns a query of requests_total for one time, 100 s after 1970.
func overQuery(o query.Over) query.Query {
	o.Metric = "requests_total"
	return query.Query{Type: "q", Table: o.Metric, End: time.Unix(100, 0), Shape: query.PromQL{Expr: o.PromQL(), Over: &o}}
}

func TestOverTime(t *testing.T) {
	above := 2.0
	steps := overQuery(query.Over{Func: "rate", Range: 25 * time.Second, Aggregate: "sum", By: []string{"order"}, Top: 3, Above: &above,
		Match: []query.Matcher{{Label: "job", Op: "=", Value: "it's"}, {Label: "order", Op: "!~", Value: "a|b"}}})
	steps.Start = time.Unix(40, 0)
	shape := steps.Shape.(query.PromQL)
	shape.Step = 10 * time.Second
	steps.Shape = shape
	for name, test := range map[string]struct {
		q    query.Query
		wide bool
		want string
	}{
		"rates in steps": {steps, false, `WITH samples AS (
  SELECT
    tags_id,
    ms(time) AS sampled_at,
    value,
    lag(ms(time)) OVER (PARTITION BY tags_id ORDER BY time) AS previous_at,
    lag(value) OVER (PARTITION BY tags_id ORDER BY time) AS previous_value,
    lead(ms(time)) OVER (PARTITION BY tags_id ORDER BY time) AS next_at
  FROM requests_total
  WHERE tags_id IN (SELECT id FROM tags WHERE job = 'it''s' AND ("order" IS NULL OR "order" NOT IN ('a', 'b')))
    AND time > t15000
    AND time <= t100000
    AND value IS NOT NULL
), placed AS (
  SELECT samples.*, sampled_at + 9999 - (sampled_at - 1) % 10000 + n * 10000 AS evaluated_at
  FROM samples
  CROSS JOIN range(3) AS numbers(n)
), windows AS (
  SELECT
    evaluated_at,
    tags_id,
    count(*) AS sample_count,
    min(sampled_at) AS first_at,
    max(sampled_at) AS last_at,
    max(CASE WHEN previous_at IS NULL OR previous_at <= evaluated_at - 25000 THEN value END) AS first_value,
    max(CASE WHEN next_at IS NULL OR next_at > evaluated_at THEN value END) AS last_value,
    sum(CASE WHEN previous_at > evaluated_at - 25000 AND value < previous_value THEN previous_value ELSE 0e0 END) AS resets
  FROM placed
  WHERE evaluated_at >= 40000
    AND evaluated_at <= 100000
    AND evaluated_at < sampled_at + 25000
  GROUP BY 1, 2
), increases AS (
  SELECT
    evaluated_at,
    tags_id,
    first_value,
    last_value - first_value + resets AS increase,
    CAST(last_at - first_at AS double) / 1000 AS sampled,
    CAST(last_at - first_at AS double) / 1000 / (sample_count - 1) AS distance,
    CAST(first_at - (evaluated_at - 25000) AS double) / 1000 AS before_first,
    CAST(evaluated_at - last_at AS double) / 1000 AS after_last
  FROM windows
  WHERE sample_count > 1
), extensions AS (
  SELECT
    evaluated_at,
    tags_id,
    increase,
    sampled,
    CASE WHEN before_first >= distance * CAST(1.1 AS double) THEN distance / 2 ELSE before_first END AS before_first,
    CASE WHEN after_last >= distance * CAST(1.1 AS double) THEN distance / 2 ELSE after_last END AS after_last,
    CASE WHEN increase > 0 AND first_value >= 0 THEN sampled * (first_value / increase) END AS since_zero
  FROM increases
), rates AS (
  SELECT
    evaluated_at,
    tags_id,
    increase * ((sampled + CASE WHEN since_zero < before_first THEN since_zero ELSE before_first END + after_last) / sampled / 25e0) AS result
  FROM extensions
), answers AS (
  SELECT
    evaluated_at,
    tags."order",
    sum(result) AS result
  FROM rates
  JOIN tags ON tags.id = rates.tags_id
  GROUP BY 1, 2
), ranked AS (
  SELECT answers.*, row_number() OVER (PARTITION BY evaluated_at ORDER BY result DESC) AS place
  FROM answers
)
SELECT
  moment(evaluated_at) AS time,
  "order",
  result AS value
FROM ranked
WHERE place <= 3
  AND result > 2e0`},
		"a current value": {overQuery(query.Over{Func: query.OverValue, Range: query.Lookback, Match: []query.Matcher{{Label: "job", Op: "=~", Value: "a.*"}}}), true, `WITH samples AS (
  SELECT
    job,
    "order",
    ms(time) AS sampled_at,
    value,
    lead(ms(time)) OVER (PARTITION BY job, "order" ORDER BY time) AS next_at
  FROM requests_total
  WHERE matches(job, '^(a.*)$')
    AND time > t-200000
    AND time <= t100000
), placed AS (
  SELECT samples.*, 100000 AS evaluated_at
  FROM samples
), windows AS (
  SELECT
    evaluated_at,
    job,
    "order",
    max(CASE WHEN next_at IS NULL OR next_at > evaluated_at THEN value END) AS result
  FROM placed
  GROUP BY 1, 2, 3
), answers AS (
  SELECT
    evaluated_at,
    job,
    "order",
    result
  FROM windows
  WHERE result IS NOT NULL
)
SELECT
  moment(evaluated_at) AS time,
  job,
  "order",
  result AS value
FROM answers`},
	} {
		t.Run(name, func(t *testing.T) {
			d := metricDialect()
			d.Wide = test.wide
			got, err := d.Render(&test.q, metricSchema())
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// Matchers take a label that a series lacks for the empty text, as PromQL does.
func TestMatchersOfMissingLabels(t *testing.T) {
	for _, test := range []struct{ op, value, want string }{
		{"=", "", "job IS NULL"},
		{"!=", "", "job IS NOT NULL"},
		{"!=", "a", "(job IS NULL OR job <> 'a')"},
		{"=~", "a|", "(job IS NULL OR matches(job, '^(a|)$'))"},
		{"!~", ".*", "(job IS NOT NULL AND NOT matches(job, '^(.*)$'))"},
		{"!~", "a", "(job IS NULL OR job NOT IN ('a'))"},
	} {
		q := overQuery(query.Over{Func: "max", Range: time.Minute, Match: []query.Matcher{{Label: "job", Op: test.op, Value: test.value}}})
		got, err := metricDialect().Render(&q, metricSchema())
		if err != nil || !strings.Contains(got, "WHERE "+test.want) {
			t.Errorf("%s%q: error %v, and no condition %s in\n%s", test.op, test.value, err, test.want, got)
		}
	}
}

func TestOverTimeErrors(t *testing.T) {
	good := query.Over{Func: "max", Range: time.Minute}
	for name, test := range map[string]struct {
		change      func(*Dialect)
		over        query.Over
		says        string
		unsupported bool
	}{
		"no SQL":        {func(d *Dialect) { d.Metrics = nil }, good, "tsmark has no SQL of Test", true},
		"whole seconds": {func(d *Dialect) { d.Precision = time.Second }, good, "multiples of 1s", true},
		"no regular expressions": {func(d *Dialect) { d.Metrics.Matches = nil },
			query.Over{Func: "max", Range: time.Minute, Match: []query.Matcher{{Label: "job", Op: "=~", Value: "a.*"}}}, "no regular expressions", true},
		"no regular expression": {func(*Dialect) {},
			query.Over{Func: "max", Range: time.Minute, Match: []query.Matcher{{Label: "job", Op: "=~", Value: "("}}}, "label job", false},
	} {
		d := metricDialect()
		test.change(d)
		q := overQuery(test.over)
		_, err := d.Render(&q, metricSchema())
		if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, query.ErrUnsupported) != test.unsupported {
			t.Errorf("%s: error %v, want %q", name, err, test.says)
		}
	}
}
