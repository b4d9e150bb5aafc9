package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/timescaledb"
)

// The golden files are written again by go test ./driver/timescaledb -update.
func TestQuestions(t *testing.T) {
	conformance.Questions(t, timescaledb.Kind(), "sql", *update)
}
