package mysql_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/mysql"
)

// The golden files are written again by go test ./driver/mysql -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, mysql.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, mysql.Driver(), map[string]string{"layout": "wide", "times": "bigint"}, "queries-wide.sql", *update)
	conformance.Queries(t, mysql.Driver(), map[string]string{"layout": "narrow"}, "queries-narrow.sql", *update)
}
