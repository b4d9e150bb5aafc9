package tsbs

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// The databases for which this package has TSBS's texts, named as in TSBS's --format.
const (
	FormatTimescaleDB     = "timescaledb"
	FormatInflux          = "influx"
	FormatQuestDB         = "questdb"
	FormatClickHouse      = "clickhouse"
	FormatVictoriaMetrics = "victoriametrics"
	FormatTDengine        = "tdengine" // of TDengine's fork
)

// Formats lists them.
func Formats() []string {
	return []string{FormatTimescaleDB, FormatInflux, FormatQuestDB, FormatClickHouse, FormatVictoriaMetrics, FormatTDengine}
}

// Text is a query as TSBS's generator makes it for a database, with its default
// flags.
type Text struct {
	Label       string // what TSBS's runner groups latencies by
	Description string

	Table, SQL string // where TSBS's runner sends SQL by a library
	// Where it sends a request over HTTP; Raw is the statement in Path, empty
	// for VictoriaMetrics.
	Method, Path, Raw string
}

// String is the form of the project's golden query texts: a key and its value
// a line.
func (t Text) String() string {
	head := fmt.Sprintf("LABEL=%s\nDESC=%s\n", t.Label, t.Description)
	if t.Path == "" {
		return head + fmt.Sprintf("TABLE=%s\nSQL=%s\n", t.Table, t.SQL)
	}
	return head + fmt.Sprintf("METHOD=%s\nPATH=%s\nBODY=\nRAW=%s\nTS=0..0\n", t.Method, t.Path, t.Raw)
}

// Statement returns the query sent to the database: SQL or InfluxQL or, for VictoriaMetrics, the
// path with its parameters.
func (t Text) Statement() string { return cmp.Or(t.SQL, t.Raw, t.Path) }

// generator is TSBS's generator of texts for a database.
type generator struct {
	hostsFirst *bool // hosts are drawn before the window, or behind it; nil: as for TimescaleDB
	iot        bool  // it has the iot types
	lacks      func(*queryType) bool
	redraws    string // the type whose hosts are drawn twice
	text       func(q *query.Query, s workload.Spec) Text
}

func generatorOf(format string) (generator, bool) {
	first, behind := new(bool), new(bool)
	*first = true
	all := func(*queryType) bool { return false }
	switch format {
	case FormatTimescaleDB:
		return generator{iot: true, lacks: all, text: func(q *query.Query, _ workload.Spec) Text { return TimescaleDB(q) }}, true
	case FormatInflux:
		return generator{hostsFirst: behind, iot: true, lacks: all, text: influx}, true
	case FormatQuestDB:
		// Its method of cpu-max-all has another signature than the generator looks for.
		return generator{hostsFirst: behind, lacks: func(t *queryType) bool { return t.prefixed("cpu-max-all-") }, text: questDB}, true
	case FormatClickHouse:
		return generator{lacks: all, text: clickHouse}, true
	case FormatVictoriaMetrics:
		return generator{hostsFirst: first, lacks: func(t *queryType) bool {
			return !t.prefixed("single-groupby-") && !t.prefixed("cpu-max-all-") && !t.prefixed("double-groupby-")
		}, text: victoriaMetrics}, true
	case FormatTDengine:
		return generator{hostsFirst: behind, lacks: all, redraws: "high-cpu-1", text: tdEngine}, true
	}
	return generator{}, false
}

func (t *queryType) prefixed(name string) bool { return strings.HasPrefix(t.name, name) }

// Texts returns the first n texts that TSBS's generator makes for a database and a query type, on a
// dataset with the specification's seed, scale and times; text i corresponds to the query with ID
// i. Draws are TSBS's for that database, so some texts use other hosts and windows than the query.
// The error wraps query.ErrUnsupported if TSBS has no such text, or is that of workload.Workload's
// Queries.
func Texts(format string, s workload.Spec, queryType string, n int) (iter.Seq[Text], error) {
	lacking := fmt.Errorf("%w: TSBS has no text for %s", query.ErrUnsupported, queryType)
	g, ok := generatorOf(format)
	if !ok {
		return nil, lacking
	}
	t := typeOf(s.Name, queryType)
	if t == nil {
		return nil, lacking
	}
	if t.table != cpuTable && !g.iot || g.lacks(t) {
		return nil, fmt.Errorf("%w for %s", lacking, format)
	}
	if g.hostsFirst != nil {
		t.hostsFirst = *g.hostsFirst
	}
	t.redraws = g.redraws == t.name
	queries, err := t.draw(s, n)
	if err != nil {
		return nil, err
	}
	return func(yield func(Text) bool) {
		for q := range queries {
			if !yield(g.text(&q, s)) {
				return
			}
		}
	}, nil
}

// Texts implements workload.Texted.
func (u useCase) Texts(format string, s workload.Spec, queryType string, n int) (iter.Seq[string], error) {
	texts, err := Texts(format, s, queryType, n)
	if err != nil {
		return nil, err
	}
	return func(yield func(string) bool) {
		for text := range texts {
			if !yield(text.Statement()) {
				return
			}
		}
	}, nil
}

// typeOf returns a query type of a use case, or nil.
func typeOf(use, name string) *queryType {
	for _, w := range Workloads() {
		if w.Name() != use {
			continue
		}
		for _, t := range w.(useCase).types {
			if t.name == name {
				return &t
			}
		}
	}
	return nil
}

// places returns the section of a query's type in a collection of texts, with its
// places filled in, as a function that returns the value from one key to the next;
// to the end of the section where next is empty.
func places(texts string, q *query.Query, replaced ...string) func(key, next string) string {
	_, section, _ := strings.Cut(texts, "##### "+q.Type+"\n")
	section, _, _ = strings.Cut(section, "\n##### ")
	drawn := "" // a fleet or a truck
	if q.In != nil {
		drawn = q.In.Values[0]
	}
	section = strings.NewReplacer(append(replaced, "{{fleet}}", drawn, "{{truck}}", drawn)...).Replace(section)
	return func(key, next string) string {
		_, rest, _ := strings.Cut(section, key+"=")
		if next != "" {
			rest, _, _ = strings.Cut(rest, "\n"+next+"=")
		}
		return strings.TrimSuffix(rest, "\n")
	}
}

// shape holds the parts of the texts of a devops query.
type shape struct {
	q       *query.Query
	buckets query.Buckets // none of its own: Width is 0
	hosts   []string
	label   string
}

// describe returns the shape of a query of hosts, with the label that TSBS has for a
// database, whose prefix is given.
func describe(q *query.Query, prefix string) shape {
	s := shape{q: q}
	s.buckets, _ = q.Shape.(query.Buckets)
	if q.In != nil {
		s.hosts = q.In.Values
	}
	b, length := s.buckets, q.End.Sub(q.Start)
	switch {
	case b.Limit > 0:
		s.label = fmt.Sprintf("%s max cpu over last %d min-intervals (random end)", prefix, b.Limit)
	case b.Aggregate == query.Avg && b.Width > 0:
		s.label = fmt.Sprintf("%s mean of %d metrics, all hosts, random %s by 1h", prefix, len(b.Fields), length)
	case b.Width == time.Hour:
		// TSBS writes this label for windows of 24 hours too.
		s.label = fmt.Sprintf("%s max of all CPU metrics, random %4d hosts, random 8h0m0s by 1h", prefix, len(s.hosts))
	case b.Width > 0:
		s.label = fmt.Sprintf("%s %d cpu metric(s), random %4d hosts, random %s by 1m", prefix, len(b.Fields), len(s.hosts), length)
	case q.Filter != nil && len(s.hosts) > 0:
		s.label = fmt.Sprintf("%s CPU over threshold, %d host(s)", prefix, len(s.hosts))
	case q.Filter != nil:
		s.label = prefix + " CPU over threshold, all hosts"
	default:
		s.label = prefix + " last row per host"
	}
	return s
}

// textAt returns the description: the label and a time.
func (s shape) textAt(t time.Time) string { return s.label + ": " + seconds(t) }

// fields lists the fields, each in a format.
func (s shape) fields(format, between string) string {
	parts := make([]string, len(s.buckets.Fields))
	for i, f := range s.buckets.Fields {
		parts[i] = fmt.Sprintf(format, f)
	}
	return strings.Join(parts, between)
}

// seconds formats a time as in most databases' texts.
func seconds(t time.Time) string { return t.UTC().Format(time.RFC3339) }
