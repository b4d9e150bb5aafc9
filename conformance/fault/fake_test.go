package fault

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// fake is a target over the server of the tests. Its sins are faults that adapters
// may have.
func fake(sins string) driver.Driver {
	k := driver.Driver{
		Name: "fake",
		Options: []driver.Option{
			{Name: "host"}, {Name: "port"}, {Name: "database", Default: fakeDatabase}, {Name: "password", Secret: true, Default: fakePassword},
			{Name: "tls", Default: "off"}, {Name: "timeout", Default: "10s"}, {Name: "sync", Default: "on"}, {Name: "dedupe", Default: "off"},
		},
		Durabilities: []driver.Profile{
			{Name: driver.Relaxed, Options: driver.Options{"sync": "off"}},
			{Name: driver.Strict, Options: driver.Options{"sync": "on"}},
		},
		Caps: func(o driver.Options) driver.Caps {
			return driver.Caps{TimePrecision: time.Nanosecond, Dedupes: o["dedupe"] == "on" || strings.Contains(sins, "claims to dedupe")}
		},
		Render: func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) {
			return driver.Request{Text: "all"}, nil
		},
	}
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		timeout, err := time.ParseDuration(o["timeout"])
		if err != nil {
			return driver.DB{}, err
		}
		if strings.Contains(sins, "endless patience") || strings.Contains(sins, "deaf") {
			timeout = 0
		}
		scheme := "http"
		if o["tls"] == "on" && !strings.Contains(sins, "ignores tls") {
			scheme = "https"
		}
		database := o["database"]
		if strings.Contains(sins, "any database") {
			database = fakeDatabase
		}
		f := &fakeTarget{options: o, sins: sins, client: &http.Client{Timeout: timeout, Transport: &http.Transport{}},
			base: fmt.Sprintf("%s://%s:%s/%s/", scheme, o["host"], o["port"], database)}
		if _, err := f.Objects(ctx); err != nil {
			return driver.DB{}, err
		}
		return driver.DB{Required: f}, nil
	}
	if strings.Contains(sins, "strict in name") {
		k.Durabilities[1].Options = driver.Options{"sync": "off"}
	}
	return k
}

type fakeTarget struct {
	driver.Required
	options driver.Options
	sins    string
	client  *http.Client
	base    string
	tables  []*series.Table
}

func (f *fakeTarget) sin(name string) bool { return strings.Contains(f.sins, name) }

// do sends a request, and returns the answer of a success.
func (f *fakeTarget) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	if f.sin("deaf") {
		ctx = context.WithoutCancel(ctx)
	}
	r, err := http.NewRequestWithContext(ctx, method, f.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(fakeUser, f.options["password"])
	answer, err := f.client.Do(r)
	if err != nil {
		if strings.Contains(err.Error(), "HTTP response to HTTPS client") {
			return nil, fmt.Errorf("the server speaks no TLS; give tls=off: %w", err)
		}
		return nil, httpwire.Cut(fmt.Errorf("the server %w: %w", driver.ErrUnreachable, err))
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
	switch {
	case answer.StatusCode == http.StatusUnauthorized && f.sin("echoes"):
		return nil, fmt.Errorf("password %s is wrong", f.options["password"])
	case f.sin("impatient"):
		answer.Header.Del("Retry-After")
	case f.sin("many lines"):
		return nil, fmt.Errorf("%s\n%w", text, httpwire.WriteError(answer, errors.New("see above")))
	}
	return nil, httpwire.WriteError(answer, fmt.Errorf("%s: %s", path, bytes.TrimSpace(text)))
}

func (f *fakeTarget) send(ctx context.Context, method, path string, body []byte) error {
	answer, err := f.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (f *fakeTarget) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "1"}, nil
}

func (f *fakeTarget) Objects(ctx context.Context) ([]driver.Object, error) {
	note, err := f.Note(ctx)
	if err != nil || note == "" {
		return nil, err
	}
	return []driver.Object{{Name: "note", Note: true}, {Name: "rows", Data: true}}, nil
}

func (f *fakeTarget) Plan(*series.Schema) ([]driver.Object, error) {
	return []driver.Object{{Name: "rows"}}, nil
}

func (f *fakeTarget) Create(_ context.Context, s *series.Schema) error {
	f.tables = s.Tables
	return nil
}

func (f *fakeTarget) Drop(ctx context.Context, _ []driver.Object) error {
	return f.send(ctx, http.MethodDelete, "rows", nil)
}

func (f *fakeTarget) Note(ctx context.Context) (string, error) {
	answer, err := f.do(ctx, http.MethodGet, "mark", nil)
	if err != nil {
		return "", fmt.Errorf("reading the note of %s: %w", f.options["database"], err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func (f *fakeTarget) SetNote(ctx context.Context, text string) error {
	return f.send(ctx, http.MethodPut, "mark", []byte(text))
}

func (f *fakeTarget) Settle(ctx context.Context) error {
	err := f.send(ctx, http.MethodPost, "settle", nil)
	if f.sin("hopes") {
		return nil
	}
	return err
}

func (f *fakeTarget) Footprint(ctx context.Context) (driver.Footprint, error) {
	_, err := f.Note(ctx)
	return driver.Footprint{Bytes: 1}, err
}

func (f *fakeTarget) Close() error { f.client.CloseIdleConnections(); return nil }

func (f *fakeTarget) NewWriter(context.Context, int) (driver.Writer, error) {
	return &fakeWriter{f: f}, nil
}

type fakeWriter struct {
	f    *fakeTarget
	text bytes.Buffer
}

func (w *fakeWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	w.text.Reset()
	for i := range b.Runs {
		run := &b.Runs[i]
		for row := range run.Rows() {
			fmt.Fprintf(&w.text, "%s %d %d %d\n", run.Table.Name, run.Series[row], run.Times[row], len(run.Columns))
		}
	}
	o := w.f.options
	err := w.f.send(ctx, http.MethodPost, "rows?sync="+o["sync"]+"&dedupe="+o["dedupe"], w.text.Bytes())
	switch {
	case err != nil && w.f.sin("swallows"):
	case err != nil && w.f.sin("permanent"):
		return driver.Receipt{}, errors.New(err.Error())
	case err != nil:
		return driver.Receipt{}, fmt.Errorf("writing: %w", err)
	case w.f.sin("sends twice"):
		_ = w.f.send(ctx, http.MethodPost, "rows?sync="+o["sync"], w.text.Bytes())
	}
	return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: int64(b.Rows())}, nil
}

func (w *fakeWriter) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (w *fakeWriter) Close() error                                  { return nil }

// Census counts rows, which suffices: a row has all its values or is missing, and the example has no
// NULL.
func (f *fakeTarget) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	q, err := f.NewQuerier(ctx, 0)
	if err != nil {
		return driver.Census{}, err
	}
	cost, err := q.Do(ctx, driver.Request{}, nil)
	c := driver.Census{Rows: cost.Rows}
	for range t.Fields {
		c.Fields = append(c.Fields, driver.Content{Count: cost.Rows})
	}
	return c, err
}

func (f *fakeTarget) NewQuerier(context.Context, int) (driver.Querier, error) {
	return fakeQuerier{f}, nil
}

type fakeQuerier struct{ f *fakeTarget }

func (q fakeQuerier) Do(ctx context.Context, _ driver.Request, sink query.Sink) (driver.Cost, error) {
	var cost driver.Cost
	answer, err := q.f.do(ctx, http.MethodGet, "rows", nil)
	if err != nil {
		return cost, err
	}
	defer answer.Body.Close()
	in := bufio.NewScanner(answer.Body)
	for in.Scan() {
		cost.Rows++
		if sink == nil {
			continue
		}
		if err := sink.Row([]query.Value{{Int: cost.Rows}}); err != nil {
			return cost, err
		}
	}
	if q.f.sin("short") {
		return cost, nil
	}
	return cost, in.Err()
}

func (q fakeQuerier) Close() error { return nil }
