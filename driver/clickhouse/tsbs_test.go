package clickhouse_test

import (
	"errors"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/clickhouse"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/query"
)

// TSBS's texts on a real server, in TSBS's layout and over both protocols.
func TestTSBSTexts(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		t.Run(protocol, func(t *testing.T) {
			conformance.Texts(t, clickhouse.Driver(), server(t, "layout", "tsbs", "protocol", protocol))
		})
	}
}

// The texts name columns of TSBS's layout.
func TestTSBSLayout(t *testing.T) {
	kind := clickhouse.Driver()
	for _, layout := range []string{"wide", "normalized", "tsbs"} {
		r, err := kind.TSBS.Request("SELECT 1", driver.Options{"layout": layout})
		if layout == "tsbs" && (err != nil || r.Text != "SELECT 1") || layout != "tsbs" && !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("layout=%s: %v", layout, err)
		}
	}
}
