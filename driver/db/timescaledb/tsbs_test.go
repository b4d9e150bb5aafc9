package timescaledb_test

import (
	"errors"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/query"
)

// TSBS's texts on a real server.
func TestTSBSTexts(t *testing.T) { conformance.Texts(t, timescaledb.Driver(), server(t)) }

// The texts join rows with the table of tags, and call time_bucket, which PostgreSQL
// alone has not.
func TestTSBSLayout(t *testing.T) {
	d := timescaledb.Driver()
	if _, err := d.TSBS.Request("SELECT 1", driver.Options{"layout": "wide"}); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("wide tables: %v", err)
	}
	if r, err := d.TSBS.Request("SELECT 1", driver.Options{"layout": "normalized"}); err != nil || r.Text != "SELECT 1" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if postgres.Driver().TSBS != nil {
		t.Error("PostgreSQL has texts of TSBS's")
	}
}
