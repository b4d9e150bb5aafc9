package iotdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// templateName is the name of a table's device template: the server has one list of templates for all
// databases.
func (l *tree) templateName(table string) string {
	return fmt.Sprintf("tsmark.%s.%s", node(l.name), node(table))
}

// create sets a device template on each table, which the first row of a device activates.
func (l *tree) create(s *series.Schema) (statements []string) {
	if !l.template {
		return nil
	}
	for _, t := range s.Tables {
		kind := ""
		if l.aligned {
			kind = "ALIGNED "
		}
		template := node(l.templateName(t.Name))
		statements = append(statements,
			fmt.Sprintf("CREATE DEVICE TEMPLATE %s %s(%s)", template, kind, strings.Join(l.declareMeasurements(measurements(t, t.Fields, l.held)), ", ")),
			fmt.Sprintf("SET DEVICE TEMPLATE %s TO %s", template, l.path(t.Name)))
	}
	return statements
}

// declareMeasurements returns measurements as they are declared in statements.
func (l *tree) declareMeasurements(all []measurement) (columns []string) {
	for _, m := range all {
		column := node(m.name) + " " + m.kind
		if l.compression != "" {
			column += " COMPRESSOR=" + l.compression
		}
		columns = append(columns, column)
	}
	return columns
}

// templateExists reports whether a table's template exists.
func (l *tree) templateExists(ctx context.Context, c sqlkit.Conn, table string) (bool, error) {
	rows, err := sqlkit.QueryRows(ctx, c, "SHOW DEVICE TEMPLATES")
	name := l.templateName(table)
	return slices.ContainsFunc(rows, func(row []query.Value) bool { return row[0].String() == name }), err
}

// forget drops the template of a path without series. It exists even with other options if an earlier
// load created it. A template that is set does not add a path to the list.
func (l *tree) forget(ctx context.Context, c sqlkit.Conn, table string) error {
	there, err := l.templateExists(ctx, c, table)
	if err != nil || !there {
		return err
	}
	template := node(l.templateName(table))
	paths, err := sqlkit.QueryRows(ctx, c, "SHOW PATHS SET DEVICE TEMPLATE "+template)
	for _, row := range paths {
		if err == nil {
			err = c.Exec(ctx, fmt.Sprintf("UNSET DEVICE TEMPLATE %s FROM %s", template, row[0].String()))
		}
	}
	if err == nil {
		err = c.Exec(ctx, "DROP DEVICE TEMPLATE "+template)
	}
	return err
}

// remove deletes the series of a path.
func (l *tree) remove(ctx context.Context, c sqlkit.Conn, table string) error {
	there, err := l.templateExists(ctx, c, table)
	if err != nil {
		return err
	}
	if !there {
		return c.Exec(ctx, "DELETE TIMESERIES "+l.path(table)+".**")
	}
	if err := c.Exec(ctx, fmt.Sprintf("DEACTIVATE DEVICE TEMPLATE %s FROM %s.**", node(l.templateName(table)), l.path(table))); err != nil {
		return err
	}
	return l.forget(ctx, c, table)
}
