package kairosdb

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
)

// What a server tells of itself, and why it tells no more.
func TestCheck(t *testing.T) {
	names := `{"results":["m_a"]}`
	shows := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", shows.Format(http.TimeFormat))
		stub.Paths(map[string]string{pathNames: names, pathVersion: "{}"})(w, r)
	})
	conformance.Reads(t, d.db(), shows, "", "where its datastore is")
	conformance.Advises(t, d.db(), "reports no settings")
	names = `{"results":["m_a","kairosdb.http.query_time"]}`
	conformance.Advises(t, d.db(), "reports no settings", "kairosdb.queries.aggregate_stats")
}
