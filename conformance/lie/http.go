package lie

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	"github.com/gorilla/websocket"
)

// handler passes requests on, rows that are written and answers that are read
// being what the lie makes of them.
func (p *proxy) handler() http.Handler {
	transport := &http.Transport{DisableCompression: true}
	plain := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: p.to})
			if err := p.rewrite(r.Out); err != nil {
				r.Out.Body = io.NopCloser(failing{err}) // the server sees the request break off
			}
		},
		ModifyResponse: p.answer,
		FlushInterval:  -1,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.IsWebSocketUpgrade(r) {
			p.taos(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// rewrite changes the rows of a request that writes. The whole body is read
// first: a server that answers earlier would have the proxy cut the connection.
func (p *proxy) rewrite(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	from := io.Reader(r.Body)
	points, puts := strings.HasSuffix(r.URL.Path, writesPoints), strings.HasSuffix(r.URL.Path, writesPuts)
	writes := points || puts || strings.HasSuffix(r.URL.Path, "/write") || strings.HasSuffix(r.URL.Path, "/write_lp")
	if writes && r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return err
		}
		from = unpacked
		r.Header.Del("Content-Encoding")
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	switch {
	case points:
		if body, err = p.points(body); err != nil {
			return err
		}
	case puts:
		if body, err = p.puts(body); err != nil {
			return err
		}
	case writes && r.Header.Get("Content-Encoding") == "snappy":
		if body, err = p.remoteWrite(body); err != nil {
			return err
		}
	case writes:
		body = p.lines(body)
	case asksTaos(r):
		if p.lie.Store != nil {
			body = []byte(p.inserted(string(body)))
		}
	default:
		if body, err = p.nativeRows(r, body); err != nil {
			return err
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	if asksFlux(r) {
		*r = *r.WithContext(withQuery(r.Context(), fluxOf(body)))
	} else if asksLines(r) {
		*r = *r.WithContext(withQuery(r.Context(), linesOf(body)))
	} else if asksNative(r) || asksTaos(r) || strings.HasSuffix(r.URL.Path, queriesPoints) || strings.HasSuffix(r.URL.Path, queriesPuts) {
		*r = *r.WithContext(withQuery(r.Context(), string(body)))
	} else if form, err := url.ParseQuery(string(body)); err == nil && !writes {
		if text := cmp.Or(form.Get("q"), form.Get("query")); text != "" {
			*r = *r.WithContext(withQuery(r.Context(), text))
		}
	}
	return nil
}

// line is a row of line protocol in its parts.
type line struct{ series, fields, time string }

func parseLine(text string) line {
	begin := fieldsAt(text)
	end := strings.LastIndexByte(text, ' ')
	if end <= begin {
		return line{text[:begin], text[begin:], ""}
	}
	return line{text[:begin], text[begin:end], text[end:]}
}

// fieldsAt returns where the fields of a line begin: behind the first space
// that no backslash stands before.
func fieldsAt(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && text[i-1] != '\\' {
			return i + 1
		}
	}
	return len(text)
}

// zero returns fields with 0 for each value, of the same type.
func zero(fields string) string {
	parts := strings.Split(fields, ",")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		parts[i] = name + "=0"
		if strings.HasSuffix(value, "i") {
			parts[i] += "i"
		}
	}
	return strings.Join(parts, ",")
}

// lines applies the lie to rows of the table in line protocol.
func (p *proxy) lines(body []byte) []byte {
	texts := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	var ours []int
	for i, text := range texts {
		if strings.HasPrefix(text, p.table+",") || strings.HasPrefix(text, p.table+" ") {
			ours = append(ours, i)
		}
	}
	fates := make(map[int]Fate, len(ours)) // by line
	rows := make([]line, len(ours))
	for n, fate := range p.fates(len(ours)) {
		fates[ours[n]] = fate
		rows[n] = parseLine(texts[ours[n]])
		switch {
		case fate == Zero:
			rows[n].fields = zero(rows[n].fields)
		case fate == Swap && n > 0:
			rows[n-1].fields, rows[n].fields = rows[n].fields, rows[n-1].fields
		}
	}
	for n, row := range rows {
		texts[ours[n]] = row.series + row.fields + row.time
	}
	var out bytes.Buffer
	for i, text := range texts {
		out.WriteString(strings.Repeat(text+"\n", fates[i].copies()))
	}
	return out.Bytes()
}

// answer changes the answer to a query.
func (p *proxy) answer(r *http.Response) error {
	kindOf, ok := p.deceives(queryOf(r.Request))
	if !ok || r.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close() // it was read to its end
	found, err := parse(r.Request, body)
	if err != nil {
		return err
	}
	told := p.read(kindOf, found.count())
	switch {
	case told.old != nil:
		body = told.old
	case p.lie.Answer != nil:
		if body, err = found.with(told.rows); err != nil {
			return err
		}
	}
	if told.keep {
		p.remember(kindOf, body)
	}
	p.wait(r.Request.Context(), told.delay)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	r.TransferEncoding = nil
	return nil
}

// rowsOf is an answer to the request, of which rows can be left out.
type rowsOf interface {
	count() int
	// with returns the answer with other rows.
	with(order []int) ([]byte, error)
}

// parse reads an answer by the format that was wanted.
func parse(r *http.Request, body []byte) (rowsOf, error) {
	if asksNative(r) {
		framed := r.URL.Query().Get("compress") == "1"
		all, err := parseNative(body, framed)
		return &nativeAnswer{all, framed}, err
	}
	if strings.HasSuffix(r.URL.Path, queriesPuts) {
		var all putsAnswer
		err := json.Unmarshal(body, &all)
		return all, err
	}
	if asksFlux(r) {
		return parseCSV(body), nil
	}
	if asksLines(r) {
		return linesAnswer(bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))), nil
	}
	return parseAnswer(body)
}

// queryOf is the text of a request that queries.
func queryOf(r *http.Request) string {
	if text := sentQuery(r.Context()); text != "" {
		return text
	}
	values := r.URL.Query()
	if text := values.Get("q"); text != "" {
		return text
	}
	return values.Get("query")
}

// jsonAnswer is an answer of JSON documents whose rows stand in lists called values
// (InfluxDB; systems of metrics, whose rows are samples), dataset (QuestDB) or, beside
// column_meta, data (TDengine).
type jsonAnswer struct {
	documents []map[string]any
	rows      []any
	lists     []rowList
}

// rowList is a list of rows, which are those of the answer from first on.
type rowList struct {
	of    map[string]any
	key   string
	first int
	count int
}

func parseAnswer(body []byte) (*jsonAnswer, error) {
	a := &jsonAnswer{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for {
		var document map[string]any
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return a, nil
		} else if err != nil {
			return nil, err
		}
		a.documents = append(a.documents, document)
		a.find(document)
	}
}

func (a *jsonAnswer) find(v any) {
	switch v := v.(type) {
	case []any:
		for _, of := range v {
			a.find(of)
		}
	case map[string]any:
		for _, key := range []string{"results", "series", "data", "result", "queries", "values", "dataset"} {
			rows, ok := v[key].([]any)
			if ok && (key == "values" || key == "dataset" || key == "data" && v["column_meta"] != nil) {
				a.lists = append(a.lists, rowList{v, key, len(a.rows), len(rows)})
				a.rows = append(a.rows, rows...)
			} else {
				a.find(v[key])
			}
		}
	}
}

func (a *jsonAnswer) count() int { return len(a.rows) }

// with returns the answer with other rows, each in the list that it came from.
func (a *jsonAnswer) with(order []int) ([]byte, error) {
	for _, l := range a.lists {
		rows := []any{}
		for _, i := range order {
			if i >= l.first && i < l.first+l.count {
				rows = append(rows, a.rows[i])
			}
		}
		l.of[l.key] = rows
		for _, counted := range []string{"count", "rows"} {
			if _, ok := l.of[counted]; ok {
				l.of[counted] = len(rows)
			}
		}
	}
	var out bytes.Buffer
	for _, d := range a.documents {
		text, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), nil
}
