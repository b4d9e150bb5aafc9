package questdb

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// TestOverhead compares the cost of a query over REST with that of net/http alone.
func TestOverhead(t *testing.T) {
	const answer = `{"query":"SELECT","columns":[{"name":"hostname","type":"SYMBOL"},{"name":"usage","type":"DOUBLE"}],"timestamp":-1,"dataset":[["host_1",58.1]],"count":1}`
	options := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	querier := newExec(settingsOf(t, options))
	defer conformance.Close(t, querier)
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	const statement = "SELECT hostname, usage FROM cpu WHERE timestamp >= '2016-01-01T00:00:00Z'"
	conformance.Overhead(t, func() error {
		response, err := client.Get("http://" + net.JoinHostPort(options[connection.Host], options[connection.Port]) + "/exec?query=" + url.QueryEscape(statement))
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
