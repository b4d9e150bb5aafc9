package griddb

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/fold"
)

// plan is a request: its statements, and how their results are merged. It is the Plan of a
// driver.Request, whose text consists of a line of JSON, the statement that reads the registry, and the
// statements for each series, one per line. In these, $series, $from and $to are placeholders for
// values that are known only after the registry was read.
type plan struct {
	Registry string   `json:"-"`
	Series   []string `json:"-"`

	// Statements says how many statements the request has.
	Statements string `json:"statements"`
	Container  string `json:"registry"` // its name
	// Tags are the columns of the registry that the result needs, and Present the columns among them
	// without which a series does not count.
	Tags    []int `json:"tags,omitempty"`
	Present []int `json:"present,omitempty"`
	// Columns are the columns of a series' rows that the plan's rows have.
	Columns []int `json:"columns"`
	// Texts is the largest size in bytes of the free texts of a series' row, even if the plan's rows do
	// not have them: a statement returns whole rows.
	Texts int64 `json:"texts,omitempty"`
	// Partial means that the statements for a series are aggregates: the number of its rows, then the
	// aggregates of each part.
	Partial bool `json:"partial,omitempty"`
	// Windows are the time ranges for which the statements are sent; nil: none.
	Windows *windows `json:"windows,omitempty"`
	// Start is the first time of a row that counts, if the statement cannot express it.
	Start *int64 `json:"start,omitempty"` // in nanoseconds

	fold.Plan
}

// windows are parts of time, in nanoseconds since 1970.
type windows struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`    // without it
	Width int64 `json:"width"` // of the first one where Back is set, of each otherwise
	// Back says that windows are read one after the other, the newest first, each as long
	// as all before it, until the answer has the rows that it may have.
	Back bool `json:"back,omitempty"`
}

// request returns a copy of the plan as a request. A request thus does not hold the memory of the
// renderer.
func (p plan) request() (driver.Request, error) {
	head, err := json.Marshal(p)
	return driver.Request{Text: string(head) + "\n" + p.Registry + "\n" + strings.Join(p.Series, "\n"), Plan: &p}, err
}

// Placeholders in statements for values that are known only when the statements are sent.
const (
	markSeries = "$series"
	markFrom   = "$from"
	markTo     = "$to"
)

// statement is one for a series, and a window of time, which may be none.
func statement(text string, series int64, from, to string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return strings.NewReplacer(markSeries, strconv.FormatInt(series, 10), markFrom, from, markTo, to).Replace(text)
}
