package mysql_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/mysql"
)

// The golden files are written again by go test ./driver/db/mysql -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, mysql.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, mysql.Driver(), map[string]string{"layout": "wide", "times": "bigint"}, "queries-wide.sql", *update)
	conformance.Queries(t, mysql.Driver(), map[string]string{"layout": "narrow"}, "queries-narrow.sql", *update)
}
