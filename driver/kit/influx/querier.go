package influx

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// OptionChunked is the option for the number of rows per chunk of a result.
const OptionChunked = "chunked"

// longestAddress is the longest statement in bytes that is sent in a URL, since proxies limit URLs.
// Longer statements are sent as a form.
const longestAddress = 6000

// Endpoint is where statements of InfluxQL run.
type Endpoint struct {
	Wire      *httpwire.Config
	Database  string
	Product   Product
	Retention string // policy; empty: the default one
	Chunk     int    // rows per chunk of a result; 0: it is not chunked
	// Explain converts a response with a status other than 200 to an error.
	Explain func(status int, body []byte) error
}

// Querier is a connection that runs statements of InfluxQL. It decodes results as they arrive: one JSON
// document, or several if they are chunked. Each has the results of statements, which have series,
// which have rows: the time, the tags of the series, the other columns.
type Querier struct {
	jsonrows.Querier
	at    Endpoint
	texts bool // all values are read as texts
	// The statement renames the time to a name of tsmark's own, and the time is not part of the result:
	// openGemini calls it time all the same.
	untimed bool
	more    bool // the latest series or result is marked as partial
	// The name of the latest series, and the names of its tags and columns.
	series        string
	tags, columns []string
}

// NewQuerier returns a querier that has not connected yet.
func NewQuerier(at Endpoint) *Querier {
	q := &Querier{at: at}
	q.Querier = jsonrows.Querier{
		// InfluxDB has no empty tags: an empty tag in a result is missing.
		Reader: jsonrows.Reader{System: "InfluxDB", EmptyIsNull: true},
		Client: httpwire.New(at.Wire), Request: q.request, Explain: at.Explain,
	}
	q.Answer = q.reader()
	return q
}

// request returns the request of a statement. A statement that may change something is sent by POST.
func (q *Querier) request(ctx context.Context, statement string) (*http.Request, error) {
	s := &q.at
	if s.Product == OpenGemini {
		before, _, named := strings.Cut(statement, untimed)
		q.untimed = named && strings.TrimSpace(strings.Replace(before, exactly, "", 1)) == "SELECT"
	}
	parameters := url.Values{"db": {s.Database}, "epoch": {"ns"}}
	if s.Chunk > 0 {
		parameters["chunked"], parameters["chunk_size"] = []string{"true"}, []string{strconv.Itoa(s.Chunk)}
	}
	if s.Retention != "" {
		parameters["rp"] = []string{s.Retention}
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

// reader returns the function that decodes a result.
func (q *Querier) reader() func() error {
	series := q.ObjectReader(jsonrows.Members{
		"name":    q.name,
		"tags":    func() error { return q.Object(q.tag) },
		"columns": q.ArrayReader(q.column),
		"values":  q.ArrayReader(q.Row),
		"partial": q.partial,
	})
	result := q.ObjectReader(jsonrows.Members{
		"series": q.ArrayReader(func() error {
			q.begin()
			return series()
		}),
		"error":   q.failure,
		"partial": q.partial,
	})
	document := q.ObjectReader(jsonrows.Members{
		"results": q.ArrayReader(func() error {
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

// partial reads the flag that says that the rest of a series follows in the next chunk. Without chunks
// there is no next one: either the server's max-row-limit has truncated the result, or the result is
// complete and longer than 10,000 rows, for which InfluxDB 1.6.7 leaves the flag set. The two cases
// cannot be distinguished.
func (q *Querier) partial() error {
	partial, err := q.True()
	if err != nil || !partial {
		return err
	}
	q.more = true
	if q.at.Chunk == 0 {
		return fmt.Errorf("the answer is marked as partial, as one of more than 10,000 rows is whether rows are missing or not; give %s=10000", OptionChunked)
	}
	return nil
}

// failure reads an error within a result.
func (q *Querier) failure() error {
	message, err := q.Text()
	if q.at.Product == OpenGemini && message == "measurement not found" {
		return err // a series without rows, for which InfluxDB has an empty result
	}
	if err == nil {
		err = MessageError(message)
	}
	return err
}

// begin begins another series.
func (q *Querier) begin() {
	q.NoLabels()
	q.Columns, q.LabelsBehind, q.tags, q.columns = q.Columns[:0], 0, q.tags[:0], q.columns[:0]
}

// name reads the name of a series.
func (q *Querier) name() (err error) {
	q.series, err = q.Text()
	return err
}

// tag reads the value of a tag of a series.
func (q *Querier) tag(key string) error {
	q.tags = append(q.tags, key)
	return q.Label()
}

// column reads the name of a column.
func (q *Querier) column() error {
	name, err := q.Text()
	kind := jsonrows.Number
	switch {
	case q.texts:
		kind = jsonrows.Text
	case name == "time" && q.untimed:
		kind = jsonrows.Hidden
	case name == "time":
		kind = jsonrows.Nanoseconds
		if len(q.Columns) == 0 {
			q.LabelsBehind = 1
		}
	case strings.HasPrefix(name, zeroPrefix):
		kind = jsonrows.Count
	case strings.HasPrefix(name, OwnPrefix):
		kind = jsonrows.Hidden
	}
	q.Columns, q.columns = append(q.Columns, kind), append(q.columns, name)
	return err
}

// Groups runs statements whose results are read by the names of tags.
type Groups struct {
	jsonrows.Console
	querier *Querier
}

// NewGroups returns a Groups that has not connected yet.
func NewGroups(at Endpoint) *Groups {
	q := NewQuerier(at)
	return &Groups{Console: jsonrows.Console{Querier: &q.Querier}, querier: q}
}

// Run calls each for every row of the result, with a function that returns the value of a tag of the
// row; NULL: the row does not have the tag.
func (g *Groups) Run(ctx context.Context, text string, each func(tag func(string) query.Value) error) error {
	return g.Console.Run(ctx, text, rowSink(func(row []query.Value) error {
		return each(func(key string) query.Value {
			if at := slices.Index(g.querier.tags, key); at >= 0 {
				return row[at]
			}
			return query.Value{}
		})
	}))
}

// rowSink is a query.Sink.
type rowSink func([]query.Value) error

// Row implements query.Sink.
func (f rowSink) Row(row []query.Value) error { return f(row) }

// Shown is a row of the result of a SHOW: its tags and columns as texts, by their names, and the name
// of its series by SeriesName.
type Shown map[string]string

// SeriesName cannot be the name of a tag or column.
const SeriesName = ""

// Shows runs SHOW statements, one after the other.
type Shows struct {
	jsonrows.Console
	querier *Querier
}

// NewShows returns a Shows that has not connected yet.
func NewShows(at Endpoint) *Shows {
	q := NewQuerier(at)
	q.texts = true
	return &Shows{Console: jsonrows.Console{Querier: &q.Querier}, querier: q}
}

// Table returns the rows of a SHOW.
func (s *Shows) Table(ctx context.Context, text string) ([]Shown, error) {
	kept := &shownRows{from: s.querier}
	err := s.Run(ctx, text, limit.NewOwnSink(kept))
	return kept.rows, err
}

// shownRows buffers the rows that a querier reads. It is a query.Sink.
type shownRows struct {
	from *Querier
	rows []Shown
}

// Row implements query.Sink.
func (s *shownRows) Row(row []query.Value) error {
	names := Shown{SeriesName: s.from.series}
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
