package iotdb

import (
	"context"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The values of optionModel, which sessions call their dialect.
const (
	modelTree  = "tree"
	modelTable = "table"
)

// model is what the tree model and the table model do each in a way of its own.
type model interface {
	// names are those of the database as the server lists it, and as statements have it.
	names() (listed, named string)
	// makeDatabase and dropDatabase return statements. The database may exist before the first, and may
	// be missing before the second.
	makeDatabase() string
	dropDatabase() string
	// render returns a query's request.
	render(*query.Query, *series.Schema) (driver.Request, error)
	// kind is what users call an object, and named its name of a table's.
	kind() string
	named(table string) string
	// objects lists the objects in the database, which must exist.
	objects(context.Context, sqlkit.Conn) ([]driver.Object, error)
	// columns are those of a table, by which its object is known, sorted.
	columns(*series.Table) []string
	// create are the statements before the first row.
	create(*series.Schema) []string
	// remove drops an object from a database that stays, and forget what may be left of one
	// that is not there.
	remove(ctx context.Context, c sqlkit.Conn, name string) error
	forget(ctx context.Context, c sqlkit.Conn, name string) error
	// path is an object as statements have it, and makeNote the statement that makes the
	// note's, which may be there.
	path(name string) string
	makeNote() string
	// tablets returns the encoder of a writer's tablets.
	tablets(*writer, *series.Schema) tablets
	// counting says how the values of a table are counted, and parts what of it: what
	// statements may have behind FROM one after the other.
	counting(*series.Table) counting
	parts(context.Context, sqlkit.Conn, *series.Table) ([]string, error)
	// listSeries implements driver.DB.
	listSeries(context.Context, *conn, *series.Table, query.Sink) error
}

// newModel returns the model of the options.
func newModel(o driver.Options) model {
	if o[optionModel] == modelTable {
		return newTable(o)
	}
	return newTree(o)
}

// counting is how statements count values.
type counting struct {
	quote func(name string) string
	// rows counts them; witness is the field that it counts, or empty. First and last are
	// the bounds of their times.
	rows, witness, first, last string
	least, most                string // functions
	from                       string
	// together has all devices counted as one, and each has them told apart.
	together, each string
}

// duration is a width in IoTDB's units.
func duration(width time.Duration) string {
	for _, u := range []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}} {
		if width%u.of == 0 {
			return strconv.FormatInt(int64(width/u.of), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(width), 10) + "ns"
}
