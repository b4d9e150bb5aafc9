package influxdb3

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
)

// What a server tells of itself, and why it tells no more.
func TestCheck(t *testing.T) {
	shows := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d := newDatabase(settingsOf(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", shows.Format(http.TimeFormat)) }, &answers{})))
	defer conformance.Close(t, d)
	conformance.Reads(t, d.db(), shows, "", "object store")
	conformance.Advises(t, d.db(), "does not report its settings")
}
