package sql

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Quote describes how a name or a text is quoted: the character before it, the one after it, and
// the one that escapes the closing quote and itself. Without the third, a name cannot contain the
// closing quote, as in TDengine. If the escape is a backslash, a line break is written as \n, as
// MySQL, ClickHouse and InfluxQL read it.
type Quote string

// The quotes of standard SQL, the quotes that databases use for names instead, and texts with
// backslashes.
const (
	DoubleQuotes Quote = `"""`
	SingleQuotes Quote = "'''"
	Backticks    Quote = "```"
	Brackets     Quote = "[]]"
	Backslashes  Quote = `''\`
)

// Wrap returns the text between quotes. It reads back as the text wherever Check
// returns nil.
func (q Quote) Wrap(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(q[0])
	for _, c := range []byte(text) { // no byte of a longer character looks like a quote
		if len(q) > 2 && (c == q[1] || c == q[2]) {
			b.WriteByte(q[2])
		}
		if c == '\n' && len(q) > 2 && q[2] == '\\' {
			b.WriteString(`\n`)
			continue
		}
		b.WriteByte(c)
	}
	b.WriteByte(q[1])
	return b.String()
}

// Check returns an error, which wraps query.ErrUnsupported, for a text that
// cannot stand between the quotes.
func (q Quote) Check(text string) error {
	if strings.Contains(text, "\x00") {
		return fmt.Errorf("%w: SQL text cannot hold the NUL character in %q", query.ErrUnsupported, text)
	}
	if len(q) < 3 && strings.IndexByte(text, q[1]) >= 0 {
		return fmt.Errorf("%w: %q has a %c, which cannot stand between %c and %[3]c", query.ErrUnsupported, text, q[1], q[0])
	}
	return nil
}

// CheckNames returns an error for the first name of the table, its tags and its
// fields that the database cannot have.
func (d *Dialect) CheckNames(t *series.Table) error {
	quote := d.names()
	if err := quote.Check(t.Name); err != nil {
		return err
	}
	for i := range t.Tags {
		if err := quote.Check(t.Tags[i].Key); err != nil {
			return err
		}
	}
	for i := range t.Fields {
		if err := quote.Check(t.Fields[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// Ident returns the name of a table or column as written in SQL: quoted if necessary, else bare,
// which is easier to read.
func (d *Dialect) Ident(name string) string {
	if d.Spell != nil {
		name = d.Spell(name)
	}
	if plain(name) && !d.Reserved(name) {
		return name
	}
	return d.names().Wrap(name)
}

// Reserved reports whether a lower-case word is one of Words.
func (d *Dialect) Reserved(word string) bool { return strings.Contains(d.Words, " "+word+" ") }

// plain reports whether every database takes the name without quotes and
// without changing its case, unless it is a reserved word.
func plain(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Text returns the literal of a text, for which CheckText returns nil.
func (d *Dialect) Text(value string) string { return d.texts().Wrap(value) }

// CheckText returns an error for a text that the database has no literal of.
func (d *Dialect) CheckText(value string) error { return d.texts().Check(value) }

func (d *Dialect) names() Quote { return cmp.Or(d.Names, DoubleQuotes) }

func (d *Dialect) texts() Quote { return cmp.Or(d.Texts, SingleQuotes) }
