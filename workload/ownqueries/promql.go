package ownqueries

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/tsmark/tsmark/query"
)

// expression checks a PromQL expression and its parameters: it must be PromQL with each of the values.
func (c *checker) expression(q *Query) {
	used, before := map[string]bool{}, len(c.problems)
	t := c.template("promql", q.PromQL, c.parameters(q, nil), used)
	c.checkUse(q, used)
	if len(c.problems) > before {
		return
	}
	first := make([]query.Parameter, len(q.Parameters))
	for i := range q.Parameters {
		p := &q.Parameters[i]
		first[i] = query.Parameter{Name: p.Name, Values: []string{"x"}, Number: q.writesBare(p)}
		if len(p.Values) > 0 {
			first[i].Values = p.Values[:1]
		}
		if p.Draw > 1 && slices.ContainsFunc(t.parts, func(of part) bool { return of.name == p.Name && of.form == "" }) {
			c.add("promql", "{{%s}} stands for %d values; write {{%s:regexp}} after =~", p.Name, p.Draw, p.Name)
			return
		}
	}
	problem := promqlProblem(t, first)
	for i := range q.Parameters {
		for _, v := range q.Parameters[i].Values {
			if problem == nil {
				with := slices.Clone(first)
				with[i].Values = []string{v}
				problem = promqlProblem(t, with)
			}
		}
	}
	if problem != nil {
		c.add("promql", "%s", problem)
	}
}

// promqlProblem returns an error if the text with the values is not PromQL.
func promqlProblem(t *Template, with []query.Parameter) error {
	text, err := t.Fill(&query.Query{Shape: query.Written{Parameters: with}}, promqlLiterals())
	if err != nil {
		return err
	}
	if _, err = parser.NewParser(parser.Options{}).ParseExpr(text); err != nil && len(with) > 0 {
		err = fmt.Errorf("%s is not PromQL: %w", text, err)
	}
	return err
}

// promqlLiterals writes values in PromQL.
func promqlLiterals() query.Literals {
	return query.Literals{Text: func(v string) (string, error) { return strconv.Quote(v), nil }}
}

// duration matches durations as PromQL writes them.
var duration = regexp.MustCompile(`^([0-9]+(ms|[smhdwy]))+$`)

// writesBare reports whether the values of a parameter are written without quotes: numbers, and in PromQL
// durations.
func (q *Query) writesBare(p *Parameter) bool {
	durations := q.Shape == promql && !p.Text && len(p.Values) > 0 &&
		!slices.ContainsFunc(p.Values, func(v string) bool { return !duration.MatchString(v) })
	return durations || p.numeric()
}

// expression draws a query of a PromQL expression, which names its metrics itself.
func (d *drawing) expression(r *random) query.Query {
	one := query.Query{Type: d.q.Name}
	d.window(&one, r)
	one.Shape = query.Written{Parameters: d.parameters(r)}
	text := d.q.PromQL
	if t, err := ParseTemplate(text); err == nil { // Check has filled it in
		text, _ = t.Fill(&one, promqlLiterals())
	}
	one.Shape = query.PromQL{Expr: text, Step: d.q.Every}
	return one
}
