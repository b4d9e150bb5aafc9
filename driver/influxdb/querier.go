package influxdb

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// longestAddress is the most bytes of a statement that go into a URL, which
// proxies bound. Longer ones are sent as a form.
const longestAddress = 6000

// querier is a connection that runs statements. It reads answers as they come:
// JSON documents, one or, where they are chunked, several, each with results of
// statements, these with series, and those with rows: the time, the tags of the
// series, the other columns.
type querier struct {
	jsonrows.Querier
	settings *settings
	texts    bool // all values are read as texts
	more     bool // the newest series or result said that more of it comes
	// The name of the newest series, and those of its tags and columns.
	series        string
	tags, columns []string
}

func newQuerier(s *settings) *querier {
	q := &querier{settings: s}
	q.Querier = jsonrows.Querier{
		// InfluxDB has no empty tags: where it writes one, the tag is missing.
		Reader: jsonrows.Reader{System: "InfluxDB", EmptyIsNull: true},
		Client: httpwire.New(&s.wire), Request: q.request, Explain: explained,
	}
	q.Answer = q.reader()
	return q
}

// request is one of a statement. What may change something is sent by POST.
func (q *querier) request(ctx context.Context, statement string) (*http.Request, error) {
	s := q.settings
	parameters := url.Values{"db": {s.database}, "epoch": {"ns"}}
	if s.chunk > 0 {
		parameters["chunked"], parameters["chunk_size"] = []string{"true"}, []string{strconv.Itoa(s.chunk)}
	}
	if s.retention != "" {
		parameters["rp"] = []string{s.retention}
	}
	if reads := strings.HasPrefix(statement, "SELECT") || strings.HasPrefix(statement, "SHOW"); reads && len(statement) <= longestAddress {
		parameters["q"] = []string{statement}
		return q.Client.Request(ctx, http.MethodGet, "/query", parameters, nil)
	}
	request, err := q.Client.Request(ctx, http.MethodPost, "/query", parameters, strings.NewReader(url.Values{"q": {statement}}.Encode()))
	if err == nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, err
}

// reader returns the function that reads an answer.
func (q *querier) reader() func() error {
	series := q.Of(jsonrows.Members{
		"name":    q.name,
		"tags":    func() error { return q.Object(q.tag) },
		"columns": q.Each(q.column),
		"values":  q.Each(q.Row),
		"partial": q.partial,
	})
	result := q.Of(jsonrows.Members{
		"series": q.Each(func() error {
			q.begin()
			return series()
		}),
		"error":   q.failure,
		"partial": q.partial,
	})
	document := q.Of(jsonrows.Members{
		"results": q.Each(func() error {
			q.more = false
			return result()
		}),
		"error": q.failure,
	})
	return func() error {
		q.more = false
		err := q.Documents(document)
		if err == nil && q.more {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
}

// partial reads the flag that says that the rest of a series comes with the
// next chunk. Without chunks there is no next one: the server's max-row-limit
// has cut the answer off, or the answer is whole and longer than 10,000 rows, of
// which InfluxDB 1.6.7 leaves the flag of the first ones. Nobody can tell.
func (q *querier) partial() error {
	partial, err := q.True()
	if err != nil || !partial {
		return err
	}
	q.more = true
	if q.settings.chunk == 0 {
		return fmt.Errorf("the answer is marked as partial, as one of more than 10,000 rows is whether rows are missing or not; give %s=10000", optionChunked)
	}
	return nil
}

// failure reads an error within an answer.
func (q *querier) failure() error {
	message, err := q.Text()
	if err == nil {
		err = said(message)
	}
	return err
}

// begin begins another series.
func (q *querier) begin() {
	q.NoLabels()
	q.Columns, q.LabelsBehind, q.tags, q.columns = q.Columns[:0], 0, q.tags[:0], q.columns[:0]
}

// name reads the name of a series.
func (q *querier) name() (err error) {
	q.series, err = q.Text()
	return err
}

// tag reads the value of a tag of a series.
func (q *querier) tag(key string) error {
	q.tags = append(q.tags, key)
	return q.Label()
}

// column reads the name of a column.
func (q *querier) column() error {
	name, err := q.Text()
	kind := jsonrows.Number
	switch {
	case q.texts:
		kind = jsonrows.Text
	case name == "time":
		kind = jsonrows.Nanoseconds
		if len(q.Columns) == 0 {
			q.LabelsBehind = 1
		}
	case strings.HasPrefix(name, zeroPrefix):
		kind = jsonrows.Count
	case strings.HasPrefix(name, ownPrefix):
		kind = jsonrows.Hidden
	}
	q.Columns, q.columns = append(q.Columns, kind), append(q.columns, name)
	return err
}

// shown is a row of the answer to a SHOW: its tags and columns as texts, by their
// names, and the name of its series by seriesName.
type shown map[string]string

// seriesName is no name of a tag or column.
const seriesName = ""

// shownRows keeps the rows that a querier reads. It is a query.Sink.
type shownRows struct {
	from *querier
	rows []shown
}

// Row implements query.Sink.
func (s *shownRows) Row(row []query.Value) error {
	names := shown{seriesName: s.from.series}
	for i, v := range row {
		if tags := len(s.from.tags); i < tags {
			names[s.from.tags[i]] = string(v.Text)
		} else {
			names[s.from.columns[i-tags]] = string(v.Text)
		}
	}
	s.rows = append(s.rows, names)
	return nil
}
