package message

import (
	"fmt"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Census is the result of the actions census and distinct_census.
type Census struct {
	Rows   int64     `json:"rows"` // -1: the system counts only values
	Digits int       `json:"digits,omitempty"`
	Fields []Content `json:"fields"`
	Times  Content   `json:"times"`
}

// Content is a driver.Content. A figure that is nil cannot be computed.
type Content struct {
	Count int64  `json:"count"`
	Sum   *Value `json:"sum,omitempty"`
	Min   *Value `json:"min,omitempty"`
	Max   *Value `json:"max,omitempty"`
}

// Value is a value: one of its members is set. Numbers are texts, since numbers of JSON lose digits.
type Value struct {
	Int   *string `json:"int,omitempty"`
	Float *string `json:"float,omitempty"` // NaN, +Inf and -Inf, too
	Text  *[]byte `json:"text,omitempty"`  // base64
	Bool  *bool   `json:"bool,omitempty"`
	Time  *string `json:"time,omitempty"` // nanoseconds since 1970
	Date  *int64  `json:"date,omitempty"` // days since 1970
	Null  bool    `json:"null,omitempty"` // the system reports NULL
}

// FromValue returns a value as messages have it; nil stays nil.
func FromValue(v *query.Value) *Value {
	if v == nil {
		return nil
	}
	number := strconv.FormatInt(v.Int, 10)
	switch v.Kind {
	case query.Int:
		return &Value{Int: &number}
	case query.Time:
		return &Value{Time: &number}
	case query.Float:
		number = strconv.FormatFloat(v.Float, 'g', -1, 64)
		return &Value{Float: &number}
	case query.Text:
		text := append([]byte{}, v.Text...)
		return &Value{Text: &text}
	case query.Bool:
		is := v.Int != 0
		return &Value{Bool: &is}
	case query.Date:
		return &Value{Date: &v.Int}
	}
	return &Value{Null: true}
}

// Query is the reverse of FromValue.
func (v *Value) Query() (*query.Value, error) {
	if v == nil {
		return nil, nil
	}
	integer := func(kind query.Kind, text string) (*query.Value, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("value %q is not an integer of 64 bits", text)
		}
		return &query.Value{Kind: kind, Int: n}, nil
	}
	switch {
	case v.Int != nil:
		return integer(query.Int, *v.Int)
	case v.Time != nil:
		return integer(query.Time, *v.Time)
	case v.Float != nil:
		x, err := strconv.ParseFloat(*v.Float, 64)
		if err != nil {
			return nil, fmt.Errorf("value %q is not a float", *v.Float)
		}
		return &query.Value{Kind: query.Float, Float: x}, nil
	case v.Text != nil:
		return &query.Value{Kind: query.Text, Text: *v.Text}, nil
	case v.Bool != nil:
		of := &query.Value{Kind: query.Bool}
		if *v.Bool {
			of.Int = 1
		}
		return of, nil
	case v.Date != nil:
		return &query.Value{Kind: query.Date, Int: *v.Date}, nil
	case v.Null:
		return &query.Value{}, nil
	}
	return nil, fmt.Errorf("a value has neither a known kind nor null")
}

// FromCensus returns a census as messages have it.
func FromCensus(c *driver.Census) *Census {
	content := func(c driver.Content) Content {
		return Content{c.Count, FromValue(c.Sum), FromValue(c.Min), FromValue(c.Max)}
	}
	m := &Census{Rows: c.Rows, Digits: c.Digits, Fields: []Content{}, Times: content(c.Times)}
	for _, f := range c.Fields {
		m.Fields = append(m.Fields, content(f))
	}
	return m
}

// Driver returns the driver.Census of a table with the given number of fields.
func (m *Census) Driver(fields int) (driver.Census, error) {
	c := driver.Census{Rows: m.Rows, Digits: m.Digits}
	content := func(m *Content) (c driver.Content, err error) {
		c.Count = m.Count
		for _, figure := range []struct {
			to   **query.Value
			from *Value
		}{{&c.Sum, m.Sum}, {&c.Min, m.Min}, {&c.Max, m.Max}} {
			if *figure.to, err = figure.from.Query(); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	if len(m.Fields) != fields {
		return c, fmt.Errorf("the census has %d fields, and the table has %d", len(m.Fields), fields)
	}
	var err error
	if c.Times, err = content(&m.Times); err != nil {
		return c, fmt.Errorf("times: %w", err)
	}
	for i := range m.Fields {
		of, err := content(&m.Fields[i])
		if err != nil {
			return c, fmt.Errorf("field %d: %w", i, err)
		}
		c.Fields = append(c.Fields, of)
	}
	return c, nil
}
