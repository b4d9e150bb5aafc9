package influxdb

import (
	"errors"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// TSBS's texts on a real server.
func TestTSBSTexts(t *testing.T) {
	conformance.Texts(t, Driver(), server(t), "avg-daily-driving-session")
}

// A text goes as TSBS writes it, but for one that would write.
func TestTSBSRequest(t *testing.T) {
	d := Driver()
	const text = "SELECT \"elapsed\" \n\t\tINTO \"random_measure2_1\" \n\t\tFROM (SELECT 1)"
	if _, err := d.TSBS.Request(text, nil); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("a text that writes: %v", err)
	}
	const reads = "SELECT \"name\" \n\t\tFROM \"readings\""
	if r, err := d.TSBS.Request(reads, nil); err != nil || r.Text != reads {
		t.Errorf("%q, %v", r.Text, err)
	}
	if d.TSBS.Format != tsbs.FormatInflux {
		t.Error(d.TSBS.Format)
	}
}
