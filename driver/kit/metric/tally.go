package metric

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Tally computes the contents of a field from its samples, for systems that would read them again for each
// figure. It is a query.Sink of the samples that a Joiner receives. The zero value has none.
type Tally struct {
	count         int64
	sum, min, max float64
	first, last   int64 // times, in nanoseconds since 1970
}

// Row implements query.Sink.
func (t *Tally) Row(sample []query.Value) error {
	if len(sample) != 2 || sample[1].Kind != query.Text {
		return fmt.Errorf("%s is not a sample", query.RowText(sample))
	}
	text := sample[1].Text
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	if err != nil {
		return fmt.Errorf("the value %q is not a number", string(text))
	}
	at := sample[0].Int
	t.Add(&Tally{1, value, value, value, at, at})
	return nil
}

// Add adds the samples of another tally.
func (t *Tally) Add(o *Tally) {
	switch {
	case o.count == 0:
	case t.count == 0:
		*t = *o
	default:
		t.count += o.count
		t.sum += o.sum
		t.min, t.max = min(t.min, o.min), max(t.max, o.max)
		t.first, t.last = min(t.first, o.first), max(t.last, o.last)
	}
}

// Content returns the figures of the values. Without samples they are NULL.
func (t *Tally) Content() driver.Content {
	figure := func(v float64) *query.Value {
		if t.count == 0 {
			return &query.Value{}
		}
		return &query.Value{Kind: query.Float, Float: v}
	}
	return driver.Content{Count: t.count, Sum: figure(t.sum), Min: figure(t.min), Max: figure(t.max)}
}

// Times returns the first and the last time of the samples, NULL without samples.
func (t *Tally) Times() driver.Content {
	if t.count == 0 {
		return driver.Content{Min: &query.Value{}, Max: &query.Value{}}
	}
	return driver.Content{Min: &query.Value{Kind: query.Time, Int: t.first}, Max: &query.Value{Kind: query.Time, Int: t.last}}
}
