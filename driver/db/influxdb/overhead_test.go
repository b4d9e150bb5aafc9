package influxdb

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// TestOverhead compares the cost of a query with that of net/http alone.
func TestOverhead(t *testing.T) {
	options := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, manyRows(1)) })
	querier := influx.NewQuerier(settingsOf(t, options).endpoint())
	defer conformance.Close(t, querier)
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	const statement = `SELECT max("usage_user") FROM "cpu" WHERE time >= '2016-01-01T00:00:00Z' GROUP BY time(1m) fill(none)`
	conformance.Overhead(t, func() error {
		response, err := client.Get("http://" + querier.Client.Address() + "/query?db=tsmark&epoch=ns&q=" + url.QueryEscape(statement))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}, func() error {
		_, err := querier.Do(t.Context(), driver.Request{Text: statement}, nil)
		return err
	})
}
