package ownqueries

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// texts checks a declaration of texts.
func (c *checker) texts(q *Query) {
	if declared := q.declaredKeys(); q.Shape != "" || len(declared) > 0 {
		c.add(cmp.Or(strings.Join(declared[:min(len(declared), 1)], ""), "shape"), "a query has a shape and what that needs, or texts; leave one of them out")
	}
	if q.Window < 0 {
		c.add("window", "must be longer than 0, such as 1h")
	}
	if q.NoStart || q.Where.isSet() || q.Above.isSet() || len(q.Present) > 0 {
		c.add("", "a text selects its rows itself; remove no-start, where, above and present, and use parameters for drawn values")
	}
	var known []string
	if q.Window > 0 {
		known = []string{startPlace, endPlace}
	}
	known = c.parameters(q, known)
	used := make(map[string]bool)
	for _, of := range slices.Sorted(maps.Keys(q.Texts)) {
		c.text("texts."+of, q.Texts[of], known, used)
	}
	if q.Reference != "" {
		c.text("reference", q.Reference, known, used)
	}
	c.checkUse(q, used)
}

// parameters checks the parameters, and returns the known names with theirs.
func (c *checker) parameters(q *Query, known []string) []string {
	for i := range q.Parameters {
		known = append(known, c.parameter(fmt.Sprintf("parameters[%d]", i), &q.Parameters[i], known))
	}
	return known
}

// checkUse checks that texts use each parameter.
func (c *checker) checkUse(q *Query, used map[string]bool) {
	for i, p := range q.Parameters {
		if p.Name != "" && !used[p.Name] {
			c.add(fmt.Sprintf("parameters[%d].name", i), "no text has {{%s}}; use it, or leave the parameter out", p.Name)
		}
	}
}

// parameter checks a parameter, and returns its name.
func (c *checker) parameter(key string, p *Parameter, taken []string) string {
	switch {
	case !placePattern.MatchString(p.Name) || strings.ContainsAny(p.Name, ": "):
		c.add(key+".name", "%q must be letters in lower case, digits and _", p.Name)
	case p.Name == startPlace || p.Name == endPlace:
		c.add(key+".name", "{{%s}} is a bound of the window; choose another name", p.Name)
	case slices.Contains(taken, p.Name):
		c.add(key+".name", "%q is there twice", p.Name)
	}
	switch {
	case p.Tag == "" && len(p.Values) == 0:
		c.add(key, "has neither values nor a tag whose values are drawn; give one of them")
	case p.Tag != "" && len(p.Values) > 0:
		c.add(key, "has both values and a tag whose values are drawn; leave one of them out")
	case p.Draw < 0:
		c.add(key+".draw", "must be 1 or more, not %d", p.Draw)
	case p.Tag == "" && p.Draw > len(p.Values):
		c.add(key+".draw", "%d of %d values cannot be drawn; list more, or lower it", p.Draw, len(p.Values))
	}
	c.different(key+".values", p.Values)
	return p.Name
}

// text checks one text and its placeholders.
func (c *checker) text(key, text string, known []string, used map[string]bool) {
	if c.template(key, text, known, used) == nil {
		return
	}
	if err := reads(text); err != nil {
		c.add(key, "%s", err)
	}
}

// template checks the placeholders of a text, and returns it; nil: it is malformed.
func (c *checker) template(key, text string, known []string, used map[string]bool) *Template {
	at := func(where position, format string, args ...any) {
		c.add(key, format, args...)
		bad := c.problems[len(c.problems)-1].(*Error)
		bad.Line, bad.Column = where.line, where.column
	}
	t, err := ParseTemplate(text)
	var bad *TemplateError
	if errors.As(err, &bad) {
		at(position{bad.Line, bad.Column}, "%s", bad.Problem)
		return nil
	}
	for _, p := range t.parts {
		switch {
		case p.name == "" || slices.Contains(known, p.name):
		case key != promql && (p.name == startPlace || p.name == endPlace):
			at(p.position, "{{%s}} needs a window, such as window: 1h", p.name)
		default:
			at(p.position, "{{%s}} is not declared in parameters%s", p.name, suggest.NamesOr(p.name, known, ""))
		}
		used[p.name] = true
	}
	return t
}

// passedOver matches the parts of a statement that are not words: comments, texts, quoted names,
// placeholders.
var passedOver = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|` + "`[^`]*`" + `|\{\{.*?\}\}`)

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// beginnings are the words with which a statement that reads begins.
func beginnings() []string { return []string{"SELECT", "WITH", "FROM", "VALUES", "TABLE", "SHOW"} }

// writing are the words of statements that change something.
func writing() []string {
	return []string{"INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT", "REVOKE", "COPY", "ATTACH", "PRAGMA"}
}

// reads returns an error for a text that a simple check recognizes as anything but a single reading
// statement. It cannot detect functions with side effects.
func reads(text string) error {
	bare := strings.TrimSpace(passedOver.ReplaceAllString(text, " "))
	bare = strings.TrimRight(bare, "; \n\t\r")
	if strings.Contains(bare, ";") {
		return errors.New("holds several statements; a query is one")
	}
	words := word.FindAllString(bare, -1)
	if len(words) == 0 || !slices.Contains(beginnings(), strings.ToUpper(words[0])) {
		first := ""
		if len(words) > 0 {
			first = ", not with " + words[0]
		}
		return fmt.Errorf("must begin with %s%s: own queries only read", strings.Join(beginnings(), ", "), first)
	}
	for _, w := range words {
		if slices.Contains(writing(), strings.ToUpper(w)) {
			return fmt.Errorf("has the word %s, and own queries only read; where it is a name, put it between quotes", w)
		}
	}
	return nil
}

// fitParameters checks the parameters of texts on a dataset.
func (c *checker) fitParameters(q *Query, s *series.Schema) {
	for i := range q.Parameters {
		p, key := &q.Parameters[i], fmt.Sprintf("parameters[%d]", i)
		if p.Tag == "" {
			continue
		}
		t := tableOf(s, p.Table)
		if t == nil {
			c.add(key+".table", "the dataset has no table %q%s", p.Table, suggest.Names(p.Table, tableNames(s)))
			continue
		}
		tag := t.Tag(p.Tag)
		if tag == nil {
			c.add(key+".tag", "table %s has no tag %q%s", t.Name, p.Tag, suggest.Names(p.Tag, tagNames(t)))
			continue
		}
		if draw, have := max(p.Draw, 1), distinct(tag, s.Range(t), max(p.Draw, 1)); have < draw {
			c.add(key+".draw", "%d values of tag %s cannot be drawn, because the dataset has %d; lower it", draw, p.Tag, have)
		}
	}
}

// identity identifies the texts of a declaration.
func (q *Query) identity() string {
	sum := sha256.New()
	for _, of := range slices.Sorted(maps.Keys(q.Texts)) {
		fmt.Fprintf(sum, "%q %q\n", of, q.Texts[of])
	}
	fmt.Fprintf(sum, "%q\n", q.Reference)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// text draws a query of texts.
func (d *drawing) text(r *random) query.Query {
	q := d.q
	one := query.Query{Type: q.Name, Table: d.table.Name}
	d.window(&one, r)
	one.Shape = query.Written{Texts: d.texts, Ordered: q.Ordered, Parameters: d.parameters(r)}
	return one
}

// parameters draws values of the parameters.
func (d *drawing) parameters(r *random) []query.Parameter {
	var list []query.Parameter
	for i := range d.q.Parameters {
		p, n := &d.q.Parameters[i], max(d.q.Parameters[i].Draw, 1)
		values := p.Values
		if p.Tag != "" {
			values = d.ofSeries(r, tableOf(d.schema, p.Table), p.Tag, n)
		} else {
			values = r.pickSome(values, n)
		}
		list = append(list, query.Parameter{Name: p.Name, Values: values, Number: d.q.writesBare(p)})
	}
	return list
}

// Languages lists the languages for which there can be a text in addition to those for drivers,
// which are also the extensions of files with texts.
func Languages() []string { return []string{"sql", "influxql"} }

// IsFor reports whether the declaration has a text for a driver with the literals.
func (q *Query) IsFor(driver string, l *query.Literals) bool {
	_, ok := q.textFor(driver, l)
	return ok && l.Unsupported == ""
}

func (q *Query) textFor(driver string, l *query.Literals) (text string, ok bool) {
	if text, ok = q.Texts[driver]; !ok {
		text, ok = q.Texts[l.Language]
	}
	return text, ok
}

// Text returns the text of one of the type's queries for a driver. The literals are nil if the
// driver takes no texts. The error wraps query.ErrUnsupported if the driver takes no texts with its
// options, or the declaration has no text for it.
func (q *Query) Text(one *query.Query, driver string, l *query.Literals) (string, error) {
	if l == nil {
		return "", fmt.Errorf("%w: %s takes no texts of own queries", query.ErrUnsupported, driver)
	}
	if l.Unsupported != "" {
		return "", fmt.Errorf("%w: %s", query.ErrUnsupported, l.Unsupported)
	}
	text, ok := q.textFor(driver, l)
	if !ok {
		return "", fmt.Errorf("%w: %s has no text for %s", query.ErrUnsupported, q.Name, driver)
	}
	t, err := ParseTemplate(text)
	if err != nil {
		return "", err
	}
	return t.Fill(one, *l)
}
