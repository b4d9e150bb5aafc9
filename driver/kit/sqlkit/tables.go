package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// NoteTable holds the note, as a text in the column NoteColumn of its only row. No other table may have
// its name.
const (
	NoteTable  = "tsmark_mark"
	NoteColumn = "content"
)

// Tables implements the part of driver.DB that SQL databases share: listing and creating tables, the
// note, and the contents of tables.
type Tables struct {
	Counter
	Place string // in errors
	// Own is the connection for tsmark's own statements. Several goroutines may use it.
	Own Conn
	// List is the statement that lists everything in the place, dependent objects before the objects
	// that they read. Its columns are the kind, the name, the identity, the table that the object
	// belongs to or an empty text, and the schema or an empty text for the schema in which tsmark
	// creates its tables.
	List string
	// Described means that the identity in List is a description, of any length. A table of a compatible system
	// whose identity is empty never counts as made by tsmark.
	Described bool
	// Lay returns the layout of a schema. Its error names the part that does not fit.
	Lay func(*series.Schema) (*Layout, error)
	// Change runs do in a transaction that changes the tables, and rolls it back after an error.
	Change func(ctx context.Context, tables []string, do func(Conn) error) error
	// Atomically is Change for rows, in systems where Change begins no transaction; nil: Change.
	Atomically func(ctx context.Context, tables []string, do func(Conn) error) error
	// Types are the types to which Correct casts values; nil: UPDATE converts them. Casts has the expressions, with %s
	// for the value, for types to which CAST does not convert. DatesAsDays means that dates are stored as days since
	// 1970. UpdatesJoined means that values are joined in an UPDATE as MySQL does it.
	Types         map[series.Type]driver.Stored
	Casts         map[string]string
	DatesAsDays   bool
	UpdatesJoined bool
	// Made changes a table after its creation, within the same transaction; nil: no change is needed.
	Made func(context.Context, Conn, Table) error
	// Undo drops the tables created before one that failed, in systems without transactional DDL; nil:
	// Change undoes them.
	Undo func(context.Context, []driver.Object) error
	// Quirks are those of a compatible system; nil: it is the driver's own system.
	Quirks *Quirks
	// Aggregates says how continuous aggregates are maintained; nil: tsmark makes none.
	Aggregates *Aggregates

	mu     sync.Mutex // guards the following fields
	layout *Layout    // of the schema passed to Create; nil before
}

// Layout returns the layout of the schema passed to Create.
func (t *Tables) Layout() (*Layout, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.layout == nil {
		return nil, errors.New("nothing was created through this connection: prepare the database first")
	}
	return t.layout, nil
}

// Optional returns the optional functions that Tables implements.
func (t *Tables) Optional() driver.Optional {
	o := driver.Optional{
		CountRows:          t.CountRows,
		DistinctCensus:     t.DistinctCensus,
		ListSeries:         t.ListSeries,
		PlanAggregate:      t.PlanAggregate,
		Materialize:        t.Materialize,
		CountCovered:       t.CountCovered,
		AggregateFootprint: t.AggregateFootprint,
	}
	if t.Quirks == nil {
		o.DeleteSeries, o.DropBefore = t.DeleteSeries, t.DropBefore
		if !t.Dialect.Narrow {
			o.Correct = t.Correct
		}
	}
	return o
}

// Objects implements driver.DB.
func (t *Tables) Objects(ctx context.Context) ([]driver.Object, error) {
	rows, err := QueryRows(ctx, t.Own, t.List)
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", t.Place, err)
	}
	objects := make([]driver.Object, len(rows))
	for i, row := range rows {
		o := driver.Object{Kind: row[0].String(), Name: row[1].String(), Of: row[3].String(), Schema: row[4].String()}
		if t.Dialect.Folds {
			o.Key = strings.ToLower(o.Name)
		}
		o.Note = o.Kind == KindTable && o.Name == NoteTable && o.Schema == ""
		if o.Data = o.Of == ""; o.Data {
			o.Identity = row[2].String()
			if o.Identity == "" && t.Quirks != nil && !o.Note {
				o.Identity = driver.Token() // it is nobody's: only --force drops it
			}
			if t.Described {
				o.Identity = driver.IdentityOf(o.Identity)
			}
		}
		objects[i] = o
	}
	return objects, nil
}

// Plan implements driver.DB.
func (t *Tables) Plan(schema *series.Schema) ([]driver.Object, error) {
	l, err := t.Lay(schema)
	if err != nil {
		return nil, err
	}
	return l.Objects, nil
}

// Create implements driver.DB.
func (t *Tables) Create(ctx context.Context, schema *series.Schema) error {
	l, err := t.Lay(schema)
	var made []driver.Object
	if err == nil {
		err = t.Change(ctx, Names(l.Objects), func(c Conn) error {
			for _, table := range l.Tables {
				err := c.Exec(ctx, table.Make...)
				if err == nil && t.Made != nil {
					err = t.Made(ctx, c, table)
				}
				if err != nil {
					return fmt.Errorf("making table %s: %w", table.Name, err)
				}
				made = append(made, driver.Object{Kind: KindTable, Name: table.Name})
			}
			return nil
		})
	}
	if err != nil && t.Undo != nil && len(made) > 0 {
		longer, cancel := limit.Outlive(ctx)
		defer cancel()
		_ = t.Undo(longer, made) // the caller returns the earlier error
	}
	if err != nil {
		return fmt.Errorf("creating tables in %s: %w", t.Place, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.layout = l
	return nil
}

// Rejoin implements Join of driver.Optional. Series whose tags are stored get no second row of tags.
func (t *Tables) Rejoin(ctx context.Context, schema *series.Schema) error {
	if err := t.Regrow(schema); err != nil {
		return err
	}
	l, err := t.Layout()
	if err != nil {
		return err
	}
	for _, table := range schema.Tables {
		tags := l.Tags[table]
		if tags == nil || tags.Of != table {
			continue
		}
		rows, err := QueryRows(ctx, t.Own, fmt.Sprintf("SELECT %s FROM %s", sql.IDColumn, t.Dialect.Ident(tags.Name)))
		if err != nil {
			return fmt.Errorf("listing the series in table %s: %w", tags.Name, err)
		}
		for _, row := range rows {
			if row[0].Kind != query.Int {
				return fmt.Errorf("the number of a series in table %s is %v", tags.Name, row[0])
			}
			if s := uint32(row[0].Int); tags.series.Has(s) {
				tags.claim(int(s - tags.series.First))
			}
		}
	}
	return nil
}

// Regrow implements Grow of driver.Optional: writers name the columns of the schema, whether
// or not the tables have them.
func (t *Tables) Regrow(schema *series.Schema) error {
	l, err := t.Lay(schema)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.layout = l
	return nil
}

// Names returns the names of objects.
func Names(objects []driver.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name
	}
	return names
}

// Note implements driver.DB.
func (t *Tables) Note(ctx context.Context) (string, error) {
	row, err := QueryRow(ctx, t.Own, fmt.Sprintf("SELECT CAST(%s AS text) FROM %s", NoteColumn, NoteTable))
	if err != nil {
		return "", err
	}
	return row[0].String(), nil
}

// SetNote implements driver.DB.
func (t *Tables) SetNote(ctx context.Context, text string) error {
	return t.Change(ctx, []string{NoteTable}, func(c Conn) error {
		if t.Quirks.ownNote() {
			return c.Exec(ctx, t.Quirks.noteStatements(t.Dialect, text)...)
		}
		return c.Exec(ctx,
			"DROP TABLE IF EXISTS "+NoteTable,
			fmt.Sprintf("CREATE TABLE %s AS SELECT CAST(%s AS text) AS %s", NoteTable, t.Dialect.Text(text), NoteColumn))
	})
}
