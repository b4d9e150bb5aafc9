package sqlkit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Quirks are the differences between a compatible system and a driver's system, as a profile states them. An
// empty value means that there is no difference. Texts have placeholders, {time} for example.
type Quirks struct {
	// Precision is the finest step of times, and must be what Columns.Time and the type of times hold.
	Precision time.Duration `yaml:"precision"`
	// Types are the column types by type of value, such as text; None: the system cannot store it. Rows are
	// sent in the binary form of the driver's own type, which the system's must have too.
	Types map[string]string `yaml:"types"`
	// Columns are the definitions of other columns.
	Columns struct {
		Time   string `yaml:"time"`    // of a row
		TagsID string `yaml:"tags-id"` // the number of a row's series
		ID     string `yaml:"id"`      // the number of a series in the table of series
		Tag    string `yaml:"tag"`     // a tag that is a text
		Number string `yaml:"number"`  // a tag that is a number
	} `yaml:"columns"`
	// Rows and Tags follow the parenthesis that ends the columns of a table of rows or of series, in place of
	// everything that the driver writes there. {time} is the column of times, {key} the number of the series or
	// in wide tables the first tag, {comment} a text in quotes that differs for each table.
	Rows string `yaml:"rows-suffix"`
	Tags string `yaml:"tags-suffix"`
	// Bucket is the start of the bucket of {time}: {interval}, such as 3600 seconds, is its width, which
	// {seconds} and {microseconds} are as whole numbers. With {seconds}, other widths are n/a.
	Bucket string `yaml:"bucket"`
	// Integer is the type of whole numbers of 64 bits in casts.
	Integer string `yaml:"integer"`
	// Seconds is the number of seconds between {from} and {to}.
	Seconds string `yaml:"seconds"`
	// Literal is a time, {time} in the form 2016-01-01 00:00:00.
	Literal string `yaml:"literal"`
	// Newest is how the newest row of each series is found: one of NewestWays.
	Newest string `yaml:"newest"`
	// Sum and MinMax are expressions of {column} for the check of contents, by type of value; None: it is not
	// computed.
	Sum    map[string]string `yaml:"sum"`
	MinMax map[string]string `yaml:"min-max"`
	// Lacks are words of Lacks, and of the driver, for what the system does not have.
	Lacks []string `yaml:"lacks"`
	// Objects is the statement that lists all tables: see Tables.List. Its third column must differ for a table
	// that somebody else makes under the same name: tsmark drops tables by it. Size returns the bytes of {table},
	// a text, on disk. Version returns the version. Settle are statements after a load, for each {table}. Session
	// are statements on each new connection.
	Objects string   `yaml:"objects"`
	Size    string   `yaml:"size"`
	Version string   `yaml:"version"`
	Settle  []string `yaml:"settle"`
	Session []string `yaml:"session"`
}

// None is the value of a quirk for something that the system does not have.
const None = "none"

// Words of Quirks.Lacks that every SQL driver knows.
const (
	LacksTransactions = "transactions"
	LacksConflict     = "on-conflict"
	LacksTableAs      = "create-table-as"
	LacksCatalogs     = "catalogs"   // the system tables and settings of the driver's system
	LacksTexts        = "user-texts" // ways to run a user's text that cannot change data
)

// dialectLacks are words of Quirks.Lacks about queries. A query that needs such a part is n/a, or has
// another text with the same meaning.
func dialectLacks() map[string]func(*sql.Dialect) {
	return map[string]func(*sql.Dialect){
		"filter":           func(d *sql.Dialect) { d.NoFilter = true },
		"having":           func(d *sql.Dialect) { d.NoHaving = true },
		"intersect-all":    func(d *sql.Dialect) { d.NoSetAll = true },
		"set-operations":   func(d *sql.Dialect) { d.NoSets = true },
		"window-functions": func(d *sql.Dialect) { d.NoWith = true },
		"over-time":        func(d *sql.Dialect) { d.Metrics = nil },
	}
}

// newestWays are the values of Quirks.Newest.
func newestWays() map[string]sql.Newest {
	return map[string]sql.Newest{"distinct-on": sql.DistinctOn, "lateral": sql.Lateral, "numbered": sql.Numbered, "joined": sql.Joined}
}

// ownNote reports whether the note's table needs statements of its own.
func (q *Quirks) ownNote() bool { return q.Lack(LacksTransactions) || q.Lack(LacksTableAs) }

// Check returns a *driver.QuirkError for the first value that is wrong. own are the driver's words of Lacks.
func (q *Quirks) Check(own ...string) error {
	words := slices.Concat(slices.Sorted(maps.Keys(dialectLacks())), []string{LacksTransactions, LacksConflict, LacksTableAs, LacksCatalogs, LacksTexts}, own)
	for i, word := range q.Lacks {
		if !slices.Contains(words, word) {
			return &driver.QuirkError{Path: fmt.Sprintf("lacks[%d]", i), Text: fmt.Sprintf("%q is not known%s", word, suggest.Names(word, words))}
		}
	}
	if ways := newestWays(); q.Newest != "" {
		if _, ok := ways[q.Newest]; !ok {
			names := slices.Sorted(maps.Keys(ways))
			return &driver.QuirkError{Path: "newest", Text: fmt.Sprintf("%q is not known%s", q.Newest, suggest.NamesOr(q.Newest, names, "; known: "+strings.Join(names, ", ")))}
		}
	}
	var types []string
	for _, t := range series.Types() {
		types = append(types, t.String())
	}
	for path, byType := range map[string]map[string]string{"types": q.Types, "sum": q.Sum, "min-max": q.MinMax} {
		for _, name := range slices.Sorted(maps.Keys(byType)) {
			if !slices.Contains(types, name) {
				return &driver.QuirkError{Path: path, Text: fmt.Sprintf("%q is not a type of values%s", name, suggest.Names(name, types))}
			}
			if path != "types" {
				if err := checkPlaces(path+"."+name, byType[name], "column"); err != nil {
					return err
				}
			}
		}
	}
	for _, t := range []struct {
		path, text string
		known      []string
	}{
		{"bucket", q.Bucket, []string{"time", "interval", "seconds", "microseconds"}}, {"seconds", q.Seconds, []string{"from", "to"}}, {"literal", q.Literal, []string{"time"}},
		{"rows-suffix", q.Rows, []string{"time", "key", "comment"}}, {"tags-suffix", q.Tags, []string{"key", "comment"}}, {"size", q.Size, []string{"table"}},
	} {
		if err := checkPlaces(t.path, t.text, t.known...); err != nil {
			return err
		}
	}
	for i, text := range q.Settle {
		if err := checkPlaces(fmt.Sprintf("settle[%d]", i), text, "table"); err != nil {
			return err
		}
	}
	return nil
}

var place = regexp.MustCompile(`\{([a-z]+)\}`)

// checkPlaces returns an error for a placeholder that is not known.
func checkPlaces(path, text string, known ...string) error {
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, m[1]) {
			return &driver.QuirkError{Path: path, Text: fmt.Sprintf("has no placeholder %s; known: {%s}", m[0], strings.Join(known, "}, {"))}
		}
	}
	return nil
}

// fill replaces placeholders, given as pairs of a name and a text.
func fill(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Lack reports whether the system lacks something. Nil quirks lack nothing.
func (q *Quirks) Lack(word string) bool { return q != nil && slices.Contains(q.Lacks, word) }

// Dialect changes a dialect of the driver's system.
func (q *Quirks) Dialect(d *sql.Dialect) {
	if q == nil {
		return
	}
	if q.Precision > 0 {
		d.Precision = q.Precision
	}
	if q.Bucket != "" {
		d.Bucket = func(width time.Duration, expression string) string {
			return fill(q.Bucket, "time", expression, "interval", sql.Interval(width), "seconds", fmt.Sprint(int64(width/time.Second)), "microseconds", fmt.Sprint(width.Microseconds()))
		}
		if strings.Contains(q.Bucket, "{seconds}") {
			d.Widths = time.Second
		}
	}
	if q.Integer != "" {
		d.Long = q.Integer
	}
	if q.Seconds != "" {
		d.Seconds = func(from, to string) string { return fill(q.Seconds, "from", from, "to", to) }
	}
	if q.Literal != "" {
		d.Time = func(t time.Time) string { return fill(q.Literal, "time", t.UTC().Format("2006-01-02 15:04:05.999999")) }
	}
	if q.Newest != "" {
		d.Newest = newestWays()[q.Newest]
	}
	for word, change := range dialectLacks() {
		if q.Lack(word) {
			change(d)
		}
	}
}

// ChangeTypes changes the column types of values.
func (q *Quirks) ChangeTypes(held map[series.Type]driver.Stored) map[series.Type]driver.Stored {
	if q == nil {
		return held
	}
	for _, t := range series.Types() {
		switch as := q.Types[t.String()]; {
		case !q.stores(t):
			delete(held, t)
		case as != "":
			held[t] = driver.Stored{As: as, Mapped: held[t].Mapped}
		}
	}
	return held
}

// stores reports whether values of a type can be stored. A value that is a time may have any number of
// microseconds.
func (q *Quirks) stores(t series.Type) bool {
	return q.Types[t.String()] != None && (t != series.Timestamp || q.Precision <= time.Microsecond)
}

// Caps changes the capabilities of a driver, whose Types ChangeTypes has changed.
func (q *Quirks) Caps(c *driver.Caps) {
	if q == nil {
		return
	}
	c.Changes = driver.Unchangeable("its profile does not say how the system changes rows")
	if q.Precision > 0 {
		c.TimePrecision = q.Precision
	}
	check := c.Schema
	c.Schema = func(s *series.Schema) error {
		for _, t := range s.Tables {
			for _, f := range t.Fields {
				if !q.stores(f.Type) {
					return fmt.Errorf("field %s of table %s has type %s, which the system does not store, as the profile says", f.Name, t.Name, f.Type)
				}
			}
		}
		return check(s)
	}
}

// Design changes how tables are declared.
func (q *Quirks) Design(d *Design) {
	if q == nil {
		return
	}
	for to, text := range map[*string]string{&d.Time: q.Columns.Time, &d.Series: q.Columns.TagsID, &d.Key: q.Columns.ID, &d.Text: q.Columns.Tag, &d.Number: q.Columns.Number} {
		if text != "" {
			*to = text
		}
	}
}

// Distinguish gives the columns of times and of numbers of series a random default, by which systems without comments
// tell tsmark's tables from others. No row takes it. SQL has defaults before constraints.
func (q *Quirks) Distinguish(d *Design) {
	if !q.Lack(LacksCatalogs) || q.Objects != "" {
		return
	}
	random := func(below int64) int64 { return rand.Int64N(below) + 1 }
	d.Time = withDefault(d.Time, d.Dialect.Time(time.UnixMilli(random(1<<41))))
	d.Key = withDefault(d.Key, strconv.FormatInt(random(math.MaxInt32-1), 10))
}

// constraint is where the constraints of a column's definition begin.
var constraint = regexp.MustCompile(`(?i) (NOT NULL|PRIMARY KEY)|$`)

func withDefault(definition, value string) string {
	at := constraint.FindStringIndex(definition)[0]
	return definition[:at] + " DEFAULT " + value + definition[at:]
}

// Suffix returns the text behind the columns of a table; ok is false if the profile has none.
func (q *Quirks) Suffix(t *Table, d *sql.Dialect) (text string, ok bool) {
	if q == nil {
		return "", false
	}
	text = q.Tags
	key := sql.IDColumn
	if t.Rows {
		text, key = q.Rows, t.By
	}
	if text == "" {
		return "", false
	}
	if key == "" {
		key = sql.TimeColumn // a wide table without tags
	}
	return " " + fill(text, "time", d.Ident(sql.TimeColumn), "key", d.Ident(key), "comment", d.Text(driver.Token())), true
}

// Figures changes the expressions for a column of values of a type.
func (q *Quirks) Figures(t series.Type, column string, f Figures) Figures {
	if q == nil {
		return f
	}
	change := func(to *string, text string) {
		switch text {
		case "":
		case None:
			*to = ""
		default:
			*to = fill(text, "column", column)
		}
	}
	change(&f.Sum, q.Sum[t.String()])
	change(&f.Order, q.MinMax[t.String()])
	return f
}

// noteStatements returns the statements that replace the note's table in a system without transactions.
func (q *Quirks) noteStatements(d *sql.Dialect, text string) []string {
	t := Table{Name: NoteTable}
	suffix, _ := q.Suffix(&t, d)
	return append([]string{
		"DROP TABLE IF EXISTS " + NoteTable,
		fmt.Sprintf("CREATE TABLE %s (%s %s, %s %s)%s", NoteTable, sql.IDColumn, cmp.Or(q.Columns.ID, "INTEGER"), NoteColumn, cmp.Or(q.Types[series.Text.String()], "TEXT"), suffix),
		fmt.Sprintf("INSERT INTO %s VALUES (0, %s)", NoteTable, d.Text(text)),
	}, q.Settling([]Table{t}, d)...)
}

// FootprintBy is Footprint of driver.DB with the expression of a profile.
func (t *Tables) FootprintBy(ctx context.Context, q *Quirks, l *Layout) (driver.Footprint, error) {
	unknown := driver.Footprint{Bytes: -1}
	if q.Size == "" || q.Size == None {
		return unknown, nil
	}
	sizes := make([]string, len(l.Tables))
	for i, table := range l.Tables {
		sizes[i] = "(" + fill(q.Size, "table", t.Dialect.Text(table.Name)) + ")"
	}
	row, err := QueryRow(ctx, t.Own, fmt.Sprintf("SELECT CAST(%s AS %s)", strings.Join(sizes, " + "), t.Dialect.IntegerType()))
	if err != nil {
		return unknown, fmt.Errorf("measuring the tables: %w", err)
	}
	return driver.Footprint{Bytes: row[0].Int, Without: "everything that the profile's expression does not count"}, nil
}

// Settling returns the statements after a load.
func (q *Quirks) Settling(tables []Table, d *sql.Dialect) []string {
	var list []string
	for _, text := range q.Settle {
		if !strings.Contains(text, "{table}") {
			list = append(list, text)
			continue
		}
		for _, t := range tables {
			list = append(list, fill(text, "table", d.Ident(t.Name)))
		}
	}
	return list
}
