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

// OptionChunked is the option after whose rows the server sends a part of an answer.
const OptionChunked = "chunked"

// longestAddress is the most bytes of a statement that go into a URL, which
// proxies bound. Longer ones are sent as a form.
const longestAddress = 6000

// Endpoint is where statements of InfluxQL are run.
type Endpoint struct {
	Wire      *httpwire.Config
	Database  string
	Product   Product
	Retention string // policy; empty: the default one
	Chunk     int    // rows after which a part of an answer is sent; 0: it is not cut into chunks
	// Explain makes an error of an answer whose status is not 200.
	Explain func(status int, body []byte) error
}

// Querier is a connection that runs statements of InfluxQL. It reads answers as they
// come: JSON documents, one or, where they are chunked, several, each with results of
// statements, these with series, and those with rows: the time, the tags of the
// series, the other columns.
type Querier struct {
	jsonrows.Querier
	at    Endpoint
	texts bool // all values are read as texts
	// The statement renames the time to a name of tsmark's own, and the time is not part of the result:
	// openGemini calls it time all the same.
	untimed bool
	more    bool // the newest series or result said that more of it comes
	// The name of the newest series, and those of its tags and columns.
	series        string
	tags, columns []string
}

// NewQuerier returns one that has not connected yet.
func NewQuerier(at Endpoint) *Querier {
	q := &Querier{at: at}
	q.Querier = jsonrows.Querier{
		// InfluxDB has no empty tags: where it writes one, the tag is missing.
		Reader: jsonrows.Reader{System: "InfluxDB", EmptyIsNull: true},
		Client: httpwire.New(at.Wire), Request: q.request, Explain: at.Explain,
	}
	q.Answer = q.reader()
	return q
}

// request is one of a statement. What may change something is sent by POST.
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

// reader returns the function that reads an answer.
func (q *Querier) reader() func() error {
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

// failure reads an error within an answer.
func (q *Querier) failure() error {
	message, err := q.Text()
	if q.at.Product == OpenGemini && message == "measurement not found" {
		return err // one without rows, for which InfluxDB has an empty answer
	}
	if err == nil {
		err = Said(message)
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

// Groups runs statements whose answers are read by the names of tags.
type Groups struct {
	jsonrows.Console
	querier *Querier
}

// NewGroups returns one that has not connected yet.
func NewGroups(at Endpoint) *Groups {
	q := NewQuerier(at)
	return &Groups{Console: jsonrows.Console{Querier: &q.Querier}, querier: q}
}

// Run calls each for every row of the answer, with a function that returns the value
// of a tag of the row; NULL: it has none.
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

// Shown is a row of the answer to a SHOW: its tags and columns as texts, by their
// names, and the name of its series by SeriesName.
type Shown map[string]string

// SeriesName cannot be the name of a tag or column.
const SeriesName = ""

// Shows runs statements of SHOW, one after the other.
type Shows struct {
	jsonrows.Console
	querier *Querier
}

// NewShows returns one that has not connected yet.
func NewShows(at Endpoint) *Shows {
	q := NewQuerier(at)
	q.texts = true
	return &Shows{Console: jsonrows.Console{Querier: &q.Querier}, querier: q}
}

// Table returns the rows that a SHOW gives.
func (s *Shows) Table(ctx context.Context, text string) ([]Shown, error) {
	kept := &shownRows{from: s.querier}
	err := s.Run(ctx, text, limit.Own(kept))
	return kept.rows, err
}

// shownRows keeps the rows that a querier reads. It is a query.Sink.
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
