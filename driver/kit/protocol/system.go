package protocol

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// System is a database system with an HTTP API.
type System struct {
	Driver string // empty: the system is not known
	Name   string // as its users write it
}

// answer is a server's answer to a request: its header, and the beginning of its body.
type answer struct {
	header http.Header
	body   string
}

// systems are the known systems, each with a request that it answers without credentials, and how it
// answers. VictoriaMetrics answers requests of InfluxDB and Prometheus too, so it comes before them.
var systems = []struct {
	System
	path    string
	matches func(answer) bool
}{
	// Its answer to a request of / has no end.
	{System{"questdb", "QuestDB"}, "/exec?query=SELECT build()", func(a answer) bool { return strings.HasPrefix(a.header.Get("Server"), "questDB") }},
	{System{"clickhouse", "ClickHouse"}, "/", func(a answer) bool { return a.body == "Ok.\n" }},
	{System{"victoriametrics", "VictoriaMetrics"}, "/api/v1/query?query=union(1)", func(a answer) bool { return strings.Contains(a.body, `"resultType":"vector"`) }},
	{System{"influxdb", "openGemini"}, "/ping", func(a answer) bool { return len(a.header.Values("X-Geminidb-Version")) > 0 }},
	{System{"influxdb", "InfluxDB 1"}, "/ping", func(a answer) bool { return strings.HasPrefix(a.influxVersion(), "1.") }},
	{System{"influxdb2", "InfluxDB 2"}, "/ping", func(a answer) bool { return strings.HasPrefix(a.influxVersion(), "2.") }},
	{System{"influxdb3", "InfluxDB 3"}, "/ping", func(a answer) bool { return strings.HasPrefix(a.influxVersion(), "3.") }},
	{System{"prometheus", "Prometheus"}, "/api/v1/status/buildinfo", func(a answer) bool { return strings.Contains(a.body, `"goVersion":"go`) }},
	{System{"kairosdb", "KairosDB"}, "/api/v1/version", func(a answer) bool { return strings.Contains(a.body, "KairosDB") }},
	{System{"opentsdb", "OpenTSDB"}, "/api/version", func(a answer) bool { return strings.Contains(a.body, `"short_revision"`) }},
}

// influxVersion returns the version in the answer of a system of InfluxData.
func (a answer) influxVersion() string {
	if version := a.header.Get("X-Influxdb-Version"); version != "" {
		return strings.TrimPrefix(version, "v")
	}
	var of struct{ Version string }
	_ = json.Unmarshal([]byte(a.body), &of) // other systems answer otherwise
	return of.Version
}

// Identify finds out which system an HTTP server is. Its error is that of a request without an answer.
func Identify(ctx context.Context, c *httpwire.Config) (System, error) {
	client := httpwire.New(c)
	defer client.Close()
	answers := make(map[string]answer) // by path
	for _, s := range systems {
		a, known := answers[s.path]
		if !known {
			var err error
			if a, err = get(ctx, client, s.path); err != nil {
				return System{}, err
			}
			answers[s.path] = a
		}
		if s.matches(a) {
			return s.System, nil
		}
	}
	return System{}, nil
}

// get requests a path, which may have parameters.
func get(ctx context.Context, c *httpwire.Client, path string) (answer, error) {
	ctx, cancel := c.WithTimeout(ctx)
	defer cancel()
	path, query, _ := strings.Cut(path, "?")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return answer{}, err
	}
	request, err := c.Request(ctx, http.MethodGet, path, parameters, nil)
	if err != nil {
		return answer{}, err
	}
	response, err := c.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return answer{}, c.RequestError(ctx, err)
	}
	return answer{response.Header, string(body)}, nil
}
