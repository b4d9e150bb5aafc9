package iotdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// tree is the tree model: a series is a device, root.<database>.<table>.<value of each tag>.
type tree struct {
	name        string // of the database
	root        string // its path
	unit        time.Duration
	held        map[series.Type]driver.Stored
	aligned     bool
	compression string // in upper case; empty: the server's default
	template    bool
}

func newTree(o driver.Options) *tree {
	return &tree{
		name: o[connection.Database], root: "root." + node(o[connection.Database]), unit: units[o[optionPrecision]], held: types(o),
		aligned: o[optionAligned] == "true", compression: strings.ToUpper(o[optionCompression]), template: o[optionSchema] == schemaTemplate,
	}
}

func (l *tree) names() (listed, named string) { return l.root, l.root }
func (l *tree) makeDatabase() string          { return "CREATE DATABASE " + l.root }
func (l *tree) dropDatabase() string          { return "DELETE DATABASE " + l.root }
func (l *tree) kind() string                  { return "path" }
func (l *tree) objectName(name string) string { return name }

// path returns the path of a table, or of another child of the database.
func (l *tree) path(name string) string { return l.root + "." + node(name) }

// level is the level of tables in paths.
func (l *tree) level() int { return strings.Count(l.root, ".") + 1 }

// looked is the number of a path's measurements to read: all devices of a table have the same ones.
const looked = 1000

// objects lists the paths, each with its measurements.
func (l *tree) objects(ctx context.Context, c sqlkit.Conn) (objects []driver.Object, err error) {
	rows, err := sqlkit.QueryRows(ctx, c, "SHOW CHILD PATHS "+l.root)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var n nodes
		if err := n.cut(row[0].Text, l.level()); err != nil || len(n.list) != 1 {
			return nil, fmt.Errorf("%q: %w", row[0].Text, errPath)
		}
		o := driver.Object{Name: n.list[0].String()}
		if n.list[0].Text == nil {
			o.Name = missing
		}
		if o.Columns, err = l.measurements(ctx, c, o.Name); err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// measurements returns the measurements of a path with their types.
func (l *tree) measurements(ctx context.Context, c sqlkit.Conn, name string) ([]string, error) {
	rows, err := sqlkit.QueryRows(ctx, c, fmt.Sprintf("SHOW TIMESERIES %s.** LIMIT %d", l.path(name), looked))
	found := []string{}
	for _, row := range rows {
		_, last := parent(row[0].Text)
		if of := row[3].String() + " " + string(last); !slices.Contains(found, of) {
			found = append(found, of)
		}
	}
	slices.Sort(found)
	return found, err
}

func (l *tree) columns(t *series.Table) []string {
	columns := []string{}
	for _, m := range measurements(t, t.Fields, l.held) {
		columns = append(columns, m.kind+" "+node(m.name))
	}
	slices.Sort(columns)
	return columns
}

func (l *tree) makeNote() string {
	return fmt.Sprintf("CREATE TIMESERIES %s.%s TEXT", l.path(note), noteContent)
}

func (l *tree) counting(t *series.Table) counting {
	w := node(witness(t))
	return counting{
		quote: node, rows: "count(" + w + ")", witness: w, first: "min_time(" + w + ")", last: "max_time(" + w + ")",
		least: "min_value", most: "max_value", from: l.devices(t), together: fmt.Sprintf(" GROUP BY LEVEL = %d", l.level()), each: " ALIGN BY DEVICE",
	}
}

// parts returns the devices of a table.
func (l *tree) parts(ctx context.Context, c sqlkit.Conn, t *series.Table) (list []string, err error) {
	if texts, _ := split(t); len(texts) == 0 {
		return []string{l.devices(t)}, nil
	}
	_, err = c.Query(ctx, "SHOW DEVICES "+l.devices(t), query.SinkFunc(func(row []query.Value) error {
		list = append(list, string(row[0].Text))
		return nil
	}))
	return list, err
}

func (l *tree) listSeries(ctx context.Context, c *conn, t *series.Table, sink query.Sink) error {
	texts, _ := split(t)
	if len(texts) == 0 {
		return sink.Row(make([]query.Value, 0))
	}
	p := &plan{Columns: 1, Device: true, Skip: l.level() + 1}
	for i := range texts {
		p.Output = append(p.Output, output{From: fromTag, At: i})
	}
	parts, err := l.parts(ctx, c, t)
	if err != nil {
		return err
	}
	there := call("count", node(witness(t)))
	var reader planned
	for from := range joinParts(parts, 1) {
		reader.begin(p, sink, int64(c.unit))
		if _, err := c.query(ctx, fmt.Sprintf("SELECT %s FROM %s HAVING %[1]s > 0 ALIGN BY DEVICE", there, from), &reader); err != nil {
			return err
		}
	}
	return nil
}

// devices is the path of all devices of a table.
func (l *tree) devices(t *series.Table) string {
	path := l.path(t.Name)
	if texts, _ := split(t); len(texts) > 0 {
		path += ".**"
	}
	return path
}
