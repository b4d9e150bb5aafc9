package ownqueries

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Error is an error in a declaration of a list.
type Error struct {
	Path    string // path of the value in the list, such as [0].fields[1]
	Problem string // the problem and how to fix it
	// Line and Column are the position in the value if that is a text, in characters from 1; 0: the
	// error is about the whole value.
	Line, Column int
}

// Error implements error.
func (e *Error) Error() string { return e.Path + ": " + e.Problem }

// Check returns the errors in declarations that do not depend on a dataset: each an *Error, joined
// by errors.Join. Query types must differ from the taken names and from each other.
func Check(list []Query, taken []string) error {
	c := checker{}
	for i := range list {
		c.path = fmt.Sprintf("[%d]", i)
		q := &list[i]
		c.name(q.Name, taken)
		taken = append(taken, q.Name)
		if q.IsText() {
			c.texts(q)
			continue
		}
		c.rows(q)
		c.shape(q)
		c.noText(q)
	}
	return errors.Join(c.problems...)
}

// checker collects errors.
type checker struct {
	path     string // of the declaration
	problems []error
}

func (c *checker) add(key, format string, args ...any) {
	path := c.path
	if key != "" {
		path += "." + key
	}
	c.problems = append(c.problems, &Error{Path: path, Problem: fmt.Sprintf(format, args...)})
}

// maxName bounds the names of query types.
const maxName = 64

// name checks the name of a query type. The name is used in tables, CSV, and file names, and with
// the suffix "@" in names of types that an aggregate answers.
func (c *checker) name(name string, taken []string) {
	letter := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	switch {
	case name == "":
		c.add("name", "is missing; give the query type a name of its own")
	case len(name) > maxName:
		c.add("name", "is longer than %d characters", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !letter(r) }) || name[0] == '-' || name[0] == '.':
		c.add("name", "%q must be letters, digits, and . _ - inside", name)
	case slices.Contains(taken, name):
		c.add("name", "%q is another query type already; give it another name", name)
	}
}

// rows checks which rows the query is about.
func (c *checker) rows(q *Query) {
	switch {
	case q.Window < 0:
		c.add("window", "must be longer than 0, such as 1h")
	case q.NoStart && q.Window == 0:
		c.add("no-start", "needs a window, whose end it keeps")
	}
	if w := &q.Where; w.isSet() {
		switch {
		case w.Tag == "":
			c.add("where.tag", "is missing; name a tag")
		case len(w.Values) == 0 && w.Draw == 0:
			c.add("where", "has no values; list them in values, or draw some of the dataset's, as in draw: 8")
		case w.Draw < 0:
			c.add("where.draw", "must be 1 or more, not %d", w.Draw)
		case len(w.Values) > 0 && w.Draw > len(w.Values):
			c.add("where.draw", "%d of %d values cannot be drawn; list more, or lower it", w.Draw, len(w.Values))
		}
		c.different("where.values", w.Values)
	}
	if q.Above.isSet() {
		if q.Above.Field == "" {
			c.add("above.field", "is missing; name a field")
		}
		c.numbers("above.value", q.Above.Value)
	}
}

func (c *checker) different(key string, values []string) {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			c.add(fmt.Sprintf("%s[%d]", key, i), "%q is there twice", v)
		}
	}
}

func (c *checker) numbers(key string, values Choices) {
	if len(values) == 0 {
		c.add(key, "is missing; give a number, or a list from which one is drawn, as in [90, 95]")
	}
	for i, text := range values {
		if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			c.add(fmt.Sprintf("%s[%d]", key, i), "%q is not a number", text)
		}
	}
}

// shape checks the query's shape.
func (c *checker) shape(q *Query) {
	if !slices.Contains(Shapes(), q.Shape) {
		if q.Shape == "" {
			c.add("shape", "is missing; choose one of %s, or give texts", strings.Join(Shapes(), ", "))
		} else {
			c.add("shape", "there is no shape %q%s", q.Shape, suggest.Names(q.Shape, Shapes()))
		}
		return
	}
	needs, takes := keysOf(q.Shape)
	declared := q.declaredKeys()
	for _, key := range needs {
		if !slices.Contains(declared, key) {
			c.add("", "shape %s needs %s", q.Shape, key)
		}
	}
	for _, key := range declared {
		if !slices.Contains(needs, key) && !slices.Contains(takes, key) {
			c.add(key, "shape %s has no %s; it has %s", q.Shape, key, strings.Join(slices.Concat(needs, takes), ", "))
		}
	}
	if q.Shape == promql {
		c.promql(q)
	}
	c.values(q, declared)
}

// promql checks a PromQL expression.
func (c *checker) promql(q *Query) {
	if q.NoStart || q.Where.isSet() || q.Above.isSet() || len(q.Present) > 0 || q.Table != "" {
		c.add("", "a PromQL expression selects its series itself; remove table, no-start, where, above and present")
	}
	if q.Every > 0 && (q.Window == 0 || q.Every%time.Millisecond != 0) {
		c.add("every", "needs a window, and must be a multiple of 1ms")
	}
	c.expression(q)
}

// values checks the values of the keys of the shape.
func (c *checker) values(q *Query, declared []string) {
	if aggregates := query.Aggregates(); q.Aggregate != "" && !slices.Contains(aggregates, query.Aggregate(q.Aggregate)) {
		c.add("aggregate", "there is no aggregate %q%s", q.Aggregate, suggest.Names(q.Aggregate, texts(aggregates)))
	}
	if q.Order != "" && q.Order != string(query.Ascending) && q.Order != string(query.Descending) {
		c.add("order", "must be %s or %s, not %q", query.Ascending, query.Descending, q.Order)
	}
	if operations := query.SetOperations(); slices.Contains(declared, "set") {
		if !slices.Contains(operations, query.SetOperation(q.Set.Operation)) {
			c.add("set.operation", "there is no set operation %q%s", q.Set.Operation, suggest.Names(q.Set.Operation, texts(operations)))
		}
		if q.Set.Operands == 1 || q.Set.Operands < 0 {
			c.add("set.operands", "must be 2 or more, not %d", q.Set.Operands)
		}
	}
	if q.Limit < 0 {
		c.add("limit", "must be 1 or more, not %d", q.Limit)
	}
	if q.Every < 0 {
		c.add("every", "must be longer than 0, such as 1m")
	}
	if q.Having.isSet() {
		c.condition("having", &q.Having)
	}
	if slices.Contains(declared, "active") {
		c.condition("active", q.Active.condition())
		if q.Active.More != 0 && q.Shape != activeUnits {
			c.add("active.more", "is for the shape %s; leave it out", activeUnits)
		}
		if q.Active.More < 0 {
			c.add("active.more", "must be 0 or more, not %d", q.Active.More)
		}
	}
	if q.Shape == last && q.Over != "" && !q.Having.isSet() {
		c.add("over", "divides the field of having; add that, or leave it out")
	}
}

func (c *checker) condition(key string, of *Condition) {
	if of.Field == "" {
		c.add(key+".field", "is missing; name a field")
	}
	if !slices.ContainsFunc(comparisons(), func(known query.Comparison) bool { return known.String() == of.Compare }) {
		c.add(key+".compare", `must be ">", "<" or ">=", not %q`, of.Compare)
	}
	c.numbers(key+".value", of.Value)
}

func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = string(v)
	}
	return all
}

// noText checks that a query with a shape has nothing that only texts have.
func (c *checker) noText(q *Query) {
	for _, k := range []struct {
		key string
		set bool
	}{{"parameters", len(q.Parameters) > 0 && q.Shape != promql}, {"reference", q.Reference != ""}, {"ordered", q.Ordered}} {
		if k.set {
			c.add(k.key, "is for queries with texts; leave it out, or give texts in place of a shape")
		}
	}
}

// tableOf returns the table of a name, the first one for an empty name, or nil.
func tableOf(s *series.Schema, name string) *series.Table {
	if name == "" && len(s.Tables) > 0 {
		return s.Tables[0]
	}
	return s.Table(name)
}

func tableNames(s *series.Schema) []string {
	var names []string
	for _, t := range s.Tables {
		names = append(names, t.Name)
	}
	return names
}

func tagNames(t *series.Table) []string {
	var names []string
	for i := range t.Tags {
		names = append(names, t.Tags[i].Key)
	}
	return names
}

// Fit returns the errors in declarations that Check accepts but that do not fit a workload's
// dataset: unknown names, and tags with too few values. Each is an *Error, joined by errors.Join,
// or the workload's own error.
func Fit(list []Query, w workload.Workload, spec workload.Spec) error {
	if len(list) == 0 {
		return nil
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return err
	}
	schema := d.Schema()
	var taken []string
	for _, t := range w.QueryTypes() {
		taken = append(taken, t.Name)
	}
	c := checker{}
	for i := range list {
		c.path = fmt.Sprintf("[%d]", i)
		if slices.Contains(taken, list[i].Name) {
			c.add("name", "%q is a query type of %s already; give it another name", list[i].Name, w.Name())
		}
		c.fit(&list[i], schema)
	}
	return errors.Join(c.problems...)
}

func (c *checker) fit(q *Query, s *series.Schema) {
	if q.IsText() {
		c.fitParameters(q, s)
		return
	}
	if q.Shape == promql {
		c.fitParameters(q, s)
		return
	}
	t := tableOf(s, q.Table)
	if t == nil {
		c.add("table", "the dataset has no table %q%s", q.Table, suggest.Names(q.Table, tableNames(s)))
		return
	}
	before := len(c.problems)
	c.tags(t, q)
	c.fields(t, q)
	if len(c.problems) > before {
		return
	}
	probe := makeQuery(q, t, func(Choices) float64 { return 0 })
	if q.Where.isSet() { // its values are drawn
		probe.In = &query.TagIn{Key: q.Where.Tag, Values: []string{""}}
	}
	if err := probe.Check(t); err != nil {
		c.add("", "%s", strings.TrimPrefix(err.Error(), query.ErrUnsupported.Error()+": "))
		return
	}
	if w := &q.Where; w.Draw > 0 && len(w.Values) == 0 {
		if have := distinct(t.Tag(w.Tag), s.Range(t), w.Draw); have < w.Draw {
			c.add("where.draw", "%d values of tag %s cannot be drawn, because the dataset has %d; lower it", w.Draw, w.Tag, have)
		}
	}
}

// tags checks the names of tags.
func (c *checker) tags(t *series.Table, q *Query) {
	known := tagNames(t)
	one := func(key, name string) {
		if name != "" && !slices.Contains(known, name) {
			c.add(key, "table %s has no tag %q%s", t.Name, name, suggest.Names(name, known))
		}
	}
	one("where.tag", q.Where.Tag)
	one("by", q.By)
	one("tag", q.Tag)
	one("unit", q.Unit)
	one("over", q.Over)
	checkNames(one, "present", q.Present)
	checkNames(one, "tags", q.Tags)
	checkNames(one, "group", q.Group)
	checkNames(one, "mean-tags", q.MeanTags)
}

// fields checks the names of fields.
func (c *checker) fields(t *series.Table, q *Query) {
	var known []string
	for i := range t.Fields {
		known = append(known, t.Fields[i].Name)
	}
	one := func(key, name string) {
		if name != "" && !slices.Contains(known, name) {
			c.add(key, "table %s has no field %q%s", t.Name, name, suggest.Names(name, known))
		}
	}
	checkNames(one, "fields", q.Fields)
	one("above.field", q.Above.Field)
	checkNames(one, "above.and", q.Above.And)
	one("having.field", q.Having.Field)
	one("active.field", q.Active.Field)
}

func checkNames(check func(key, name string), key string, names []string) {
	for i, name := range names {
		check(fmt.Sprintf("%s[%d]", key, i), name)
	}
}

// distinct counts the different values of a tag that series have, up to most.
func distinct(tag *series.Tag, of series.Span, most int) int {
	seen := make(map[string]bool)
	var text []byte
	for s := of.First; s < of.End && len(seen) < most; s++ {
		value, ok := tag.Values.Append(text[:0], s)
		if ok {
			seen[string(value)] = true
		}
		text = value
	}
	return len(seen)
}
