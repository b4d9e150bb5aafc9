package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
	"github.com/tsmark/tsmark/target/timescaledb"
)

// The golden files are written again by go test ./target/timescaledb -update.
func TestQuestions(t *testing.T) {
	targettest.Questions(t, timescaledb.Kind(), "sql", *update)
}
