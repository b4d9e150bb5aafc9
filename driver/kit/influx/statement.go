package influx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/influxdata/influxql"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
)

// statement is a SELECT of InfluxQL.
type statement struct {
	hint    string
	columns []string
	policy  string       // retention policy of from; empty: the connection's
	from    string       // a measurement, unquoted; or
	inner   *statement   // a subquery
	further []*statement // more of them, whose rows are merged with its
	where   []string     // all of them
	ends    bool         // one of them bounds the time from above
	bucket  time.Duration
	group   []string // tags, unquoted
	newest  bool     // rows from the newest to the oldest
	limit   int
}

// String returns the text, a line for each part.
func (s *statement) String() string {
	var b strings.Builder
	s.write(&b, "")
	return strings.TrimSuffix(b.String(), "\n")
}

func (s *statement) write(b *strings.Builder, indent string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	word := strings.TrimSuffix("SELECT "+s.hint, " ")
	if len(s.columns) == 1 {
		line("%s %s", word, s.columns[0])
	} else {
		line("%s", word)
		line("  %s", strings.Join(s.columns, ",\n"+indent+"  "))
	}
	if s.inner != nil {
		line("FROM (")
		s.inner.write(b, indent+"  ")
		for _, another := range s.further {
			line("), (")
			another.write(b, indent+"  ")
		}
		line(")")
	} else {
		from := Ident(s.from)
		if s.policy != "" {
			from = Ident(s.policy) + "." + from
		}
		line("FROM %s", from)
	}
	conditions := s.where
	if s.bucket > 0 && !s.ends {
		conditions = append(slices.Clone(conditions), lastTime)
	}
	for i, condition := range conditions {
		word := "WHERE"
		if i > 0 {
			word = "  AND"
		}
		line("%s %s", word, condition)
	}
	var by []string
	if s.bucket > 0 {
		by = append(by, "time("+duration(s.bucket)+")")
	}
	for _, tag := range s.group {
		by = append(by, Ident(tag))
	}
	if len(by) > 0 {
		fill := ""
		if s.bucket > 0 {
			fill = " fill(none)" // no row for a bucket without one
		}
		line("GROUP BY %s%s", strings.Join(by, ", "), fill)
	}
	if s.newest {
		line("ORDER BY time DESC")
	}
	if s.limit > 0 {
		line("LIMIT %d", s.limit)
	}
}

// lastTime is true for every time that InfluxDB can store. By default, statements with buckets of time
// end at the present.
const lastTime = "time <= 9223372036854775806"

// Ident returns a name as an identifier of InfluxQL.
func Ident(name string) string { return sql.Quote(`""\`).Wrap(name) }

// text returns a text as a literal of InfluxQL.
func text(value string) string { return sql.Backslashes.Wrap(value) }

// Literals returns the literals of InfluxQL.
func Literals() query.Literals {
	return query.Literals{
		Language:    "influxql",
		Confinement: "InfluxDB's own parser takes it as one SELECT without INTO, or as one SHOW, first",
		Text:        func(value string) (string, error) { return text(value), sql.Backslashes.Check(value) },
		Time:        func(t time.Time) (string, error) { return text(t.UTC().Format(time.RFC3339Nano)), nil },
		Regexp: func(expression string) (string, error) {
			return "/" + strings.ReplaceAll(expression, "/", `\/`) + "/", nil
		},
	}
}

// CheckText returns an error unless InfluxDB's own parser takes a text as one statement that
// only reads.
func CheckText(text string) error {
	parsed, err := influxql.ParseQuery(text)
	if err != nil {
		return err
	}
	if n := len(parsed.Statements); n != 1 {
		return fmt.Errorf("the text has %d statements; a query is one", n)
	}
	switch s := parsed.Statements[0].(type) {
	case *influxql.SelectStatement:
		if s.Target != nil {
			return errors.New("the text writes its answer INTO a measurement; leave that out")
		}
	case *influxql.ShowMeasurementsStatement, *influxql.ShowTagKeysStatement, *influxql.ShowTagValuesStatement, *influxql.ShowFieldKeysStatement,
		*influxql.ShowSeriesStatement, *influxql.ShowSeriesCardinalityStatement, *influxql.ShowTagValuesCardinalityStatement:
	default:
		return errors.New("the text is neither a SELECT nor a SHOW of measurements, series, tags or fields")
	}
	return nil
}

// number returns a number, for which InfluxQL knows no exponent.
func number(v float64) string {
	digits := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(digits, ".") && (v >= 1<<53 || v <= -1<<53) {
		digits += ".0" // else it might be no integer of 64 bits
	}
	return digits
}

// instant returns a time.
func instant(t time.Time) string { return "'" + t.UTC().Format(time.RFC3339Nano) + "'" }

// duration returns the width of buckets.
func duration(d time.Duration) string {
	return sql.InUnits(d, [...]string{"d", "h", "m", "s", "ms", "u", "ns"})
}

// alias gives an expression a name, unless it is the name.
func alias(expression, name string) string {
	if expression == Ident(name) {
		return expression
	}
	return expression + " AS " + Ident(name)
}

// call applies a function to a field; without one it is the field.
func call(function, field string) string {
	if function == "" {
		return Ident(field)
	}
	return function + "(" + Ident(field) + ")"
}

// idents returns names as they stand in InfluxQL.
func idents(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = Ident(n)
	}
	return list
}

// Text returns the literal of a text in InfluxQL.
func Text(value string) string { return text(value) }

// Idents returns names as they stand in a GROUP BY.
func Idents(names []string) string { return strings.Join(idents(names), ", ") }

// Edge returns the statement for the oldest row of a measurement, or the newest. The
// policy is its retention policy; empty: the connection's.
func Edge(policy, from string, newest bool) string {
	return (&statement{columns: []string{"*"}, policy: policy, from: from, newest: newest, limit: 1}).String()
}

// Values returns the statement for all values of a field of a measurement, each with its
// time. The policy is its retention policy; empty: the connection's.
func Values(policy, from, field string) string {
	return (&statement{columns: []string{Ident(field)}, policy: policy, from: from}).String()
}

// exactly has openGemini merge rows before it counts them: else a row that was sent
// twice counts twice as long as its files are not merged.
const exactly = "/*+ exact_statistic_query */"

// Compute returns the statement for what a function makes of all values of each of some
// fields of a measurement, where all of the conditions hold.
func Compute(by Product, function string, fields []string, policy, from string, where ...string) string {
	s := &statement{columns: []string{untimed}, policy: policy, from: from, where: where}
	if by == OpenGemini {
		s.hint = exactly
	}
	for _, field := range fields {
		s.columns = append(s.columns, call(function, field))
	}
	return s.String()
}
