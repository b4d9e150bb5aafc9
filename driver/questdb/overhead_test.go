package questdb

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
)

// A question over REST costs what net/http takes to ask it by itself.
func TestOverhead(t *testing.T) {
	const answer = `{"query":"SELECT","columns":[{"name":"hostname","type":"SYMBOL"},{"name":"usage","type":"DOUBLE"}],"timestamp":-1,"dataset":[["host_1",58.1]],"count":1}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	kind := Kind()
	options, err := kind.Resolve(map[string]string{"host": at.Hostname(), "port": at.Port()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(options, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	querier := newExec(s)
	defer querier.Close()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	const question = "SELECT hostname, usage FROM cpu WHERE timestamp >= '2016-01-01T00:00:00Z'"
	conformance.Overhead(t, func() error {
		response, err := client.Get(server.URL + "/exec?query=" + url.QueryEscape(question))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}, func() error {
		_, err := querier.Do(t.Context(), driver.Request{Text: question}, nil)
		return err
	})
}
