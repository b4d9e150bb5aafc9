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

// model is the interface of the differences between the tree model and the table model.
type model interface {
	// names returns the name of the database in the server's list, and in statements.
	names() (listed, named string)
	// makeDatabase and dropDatabase return statements. The database may exist before the first, and may
	// be missing before the second.
	makeDatabase() string
	dropDatabase() string
	// render returns the request of a query.
	render(*query.Query, *series.Schema) (driver.Request, error)
	// kind is the users' term for an object, and named the object's name for a table.
	kind() string
	objectName(table string) string
	// objects lists the objects in the database, which must exist.
	objects(context.Context, sqlkit.Conn) ([]driver.Object, error)
	// columns returns the sorted columns of a table, which identify its object.
	columns(*series.Table) []string
	// create returns the statements to run before the first row.
	create(*series.Schema) []string
	// remove drops an object from a database that stays. forget removes the remains of an object that
	// no longer exists.
	remove(ctx context.Context, c sqlkit.Conn, name string) error
	forget(ctx context.Context, c sqlkit.Conn, name string) error
	// path is an object's name in statements. makeNote is the statement that creates the note's object
	// unless it exists.
	path(name string) string
	makeNote() string
	// deletion returns the statement that deletes rows of a table: those with a value in a tag, or, without a tag, those
	// that satisfy a condition.
	deletion(t *series.Table, tag, value, condition string) string
	// tablets returns the encoder of a writer's tablets.
	tablets(*writer, *series.Schema) tablets
	// counting says how the values of a table are counted. parts lists the operands of FROM that
	// statements count one after the other.
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

// counting says how statements count values.
type counting struct {
	quote func(name string) string
	// rows counts the rows; witness is the field that it counts, or empty. First and last are the
	// bounds of their times.
	rows, witness, first, last string
	least, most                string // functions
	from                       string
	// together makes all devices count as one, and each makes them count separately.
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
