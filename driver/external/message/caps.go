package message

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// Option is a driver.Option.
type Option struct {
	Name    string   `json:"name"`
	Help    string   `json:"help"`
	Type    string   `json:"type"` // text, integer, number, duration, port, boolean, choice or size
	Choices []string `json:"choices,omitempty"`
	Default string   `json:"default,omitempty"`
	Empty   string   `json:"empty,omitempty"`
	Secret  bool     `json:"secret,omitempty"`
	Layout  bool     `json:"layout,omitempty"`
}

// FromOptions returns options as messages have them. The driver itself checks values of types that
// the protocol lacks.
func FromOptions(list []driver.Option) []Option {
	options := make([]Option, len(list))
	for i, o := range list {
		options[i] = Option{Name: o.Name, Help: o.Help, Type: "text", Choices: o.Type.Words(), Default: o.Default, Empty: o.Empty, Secret: o.Secret, Layout: o.Layout}
		switch name := o.Type.String(); name {
		case "duration", "port", "size":
			options[i].Type = name
		case "boolean", "choice":
			if len(options[i].Choices) > 0 {
				options[i].Type = name
			}
		}
	}
	return options
}

// Driver returns the option that tsmark checks values with.
func (o *Option) Driver() (driver.Option, error) {
	out := driver.Option{Name: o.Name, Help: o.Help, Default: o.Default, Empty: o.Empty, Secret: o.Secret, Layout: o.Layout}
	switch o.Type {
	case "text", "":
	case "integer":
		out.Type = option.CheckedBy("integer", func(v string) error {
			if _, err := strconv.ParseInt(v, 10, 64); err != nil {
				return fmt.Errorf("must be a whole number")
			}
			return nil
		})
	case "number":
		out.Type = option.CheckedBy("number", func(v string) error {
			if x, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("must be a number")
			}
			return nil
		})
	case "duration":
		out.Type = option.Duration()
	case "port":
		out.Type = option.Port()
	case "size":
		out.Type = option.Size()
	case "boolean":
		if len(o.Choices) == 0 {
			out.Type = option.Boolean("yes", "no")
			break
		}
		if len(o.Choices) != 2 {
			return out, fmt.Errorf("option %s is boolean and has %d choices; it needs two", o.Name, len(o.Choices))
		}
		out.Type = option.Boolean(o.Choices[0], o.Choices[1])
	case "choice":
		if len(o.Choices) == 0 {
			return out, fmt.Errorf("option %s has no choices", o.Name)
		}
		out.Type = option.Choice(o.Choices...)
	default:
		return out, fmt.Errorf("option %s has the unknown type %q", o.Name, o.Type)
	}
	if o.Default != "" {
		if err := out.Type.Check(o.Default); err != nil {
			return out, fmt.Errorf("default %q of option %s %w", o.Default, o.Name, err)
		}
	}
	return out, nil
}

// Caps is a driver.Caps. Durations are as Go writes them; traits and types are named as by
// series.Trait.String and series.Type.String.
type Caps struct {
	Language      string                   `json:"language"`
	Discards      bool                     `json:"discards,omitempty"`
	MaxWriters    int                      `json:"max_writers,omitempty"`
	OneConnection bool                     `json:"one_connection,omitempty"`
	ShowsInParts  bool                     `json:"shows_in_parts,omitempty"`
	Dedupes       bool                     `json:"dedupes,omitempty"`
	MakesColumns  bool                     `json:"makes_columns,omitempty"`
	InOrder       string                   `json:"in_order,omitempty"` // a duration, or InSeries
	TimePrecision string                   `json:"time_precision,omitempty"`
	First         time.Time                `json:"first,omitzero"`
	Last          time.Time                `json:"last,omitzero"`
	Lacks         map[string]string        `json:"lacks,omitempty"`
	Digits        int                      `json:"digits,omitempty"`
	Types         map[string]driver.Stored `json:"types,omitempty"`
	Steps         []driver.Step            `json:"steps,omitempty"`
}

// InSeries in Caps.InOrder means driver.InSeries.
const InSeries = "series"

// traits lists all traits.
func traits() []series.Trait {
	var list []series.Trait
	for t := series.NaN; t <= series.NULTexts; t++ {
		list = append(list, t)
	}
	return list
}

// FromCaps returns capabilities as messages have them.
func FromCaps(c *driver.Caps) *Caps {
	m := &Caps{
		Language: c.Language, Discards: c.Discards, MaxWriters: c.MaxWriters, OneConnection: c.OneConnection, ShowsInParts: c.ShowsInParts,
		Dedupes: c.Dedupes, MakesColumns: c.MakesColumns, TimePrecision: c.TimePrecision.String(), First: c.First, Last: c.Last, Digits: c.Digits, Steps: c.Steps,
	}
	switch {
	case c.InOrder == driver.InSeries:
		m.InOrder = InSeries
	case c.InOrder > 0:
		m.InOrder = c.InOrder.String()
	}
	for trait, why := range c.Lacks {
		if m.Lacks == nil {
			m.Lacks = make(map[string]string)
		}
		m.Lacks[trait.String()] = why
	}
	for kind, stored := range c.Types {
		if m.Types == nil {
			m.Types = make(map[string]driver.Stored)
		}
		m.Types[kind.String()] = stored
	}
	return m
}

// Driver returns the driver.Caps, without Schema. Its error names the value that is wrong.
func (m *Caps) Driver() (driver.Caps, error) {
	c := driver.Caps{
		Language: m.Language, Discards: m.Discards, MaxWriters: m.MaxWriters, OneConnection: m.OneConnection, ShowsInParts: m.ShowsInParts,
		Dedupes: m.Dedupes, MakesColumns: m.MakesColumns, TimePrecision: time.Nanosecond, First: m.First, Last: m.Last, Digits: m.Digits, Steps: m.Steps,
		Changes: driver.Unchangeable("the protocol of external drivers has no messages that change stored rows"),
	}
	var err error
	if m.TimePrecision != "" {
		if c.TimePrecision, err = time.ParseDuration(m.TimePrecision); err != nil || c.TimePrecision <= 0 {
			return c, fmt.Errorf("time_precision %q is not a duration such as 1us", m.TimePrecision)
		}
	}
	switch m.InOrder {
	case "":
	case InSeries:
		c.InOrder = driver.InSeries
	default:
		if c.InOrder, err = time.ParseDuration(m.InOrder); err != nil || c.InOrder < 0 {
			return c, fmt.Errorf("in_order %q is neither a duration nor %q", m.InOrder, InSeries)
		}
	}
	if c.MaxWriters < 0 || c.Digits < 0 {
		return c, fmt.Errorf("max_writers and digits must not be negative")
	}
	names := make(map[string]series.Trait)
	for _, t := range traits() {
		names[t.String()] = t
	}
	for name, why := range m.Lacks {
		trait, known := names[name]
		if !known {
			return c, fmt.Errorf("lacks names the unknown trait %q", name)
		}
		if c.Lacks == nil {
			c.Lacks = make(map[series.Trait]string)
		}
		c.Lacks[trait] = why
	}
	types := make(map[string]series.Type)
	for _, t := range series.Types() {
		types[t.String()] = t
	}
	for name, stored := range m.Types {
		kind, known := types[name]
		if !known {
			return c, fmt.Errorf("types names the unknown type %q", name)
		}
		if c.Types == nil {
			c.Types = make(map[series.Type]driver.Stored)
		}
		c.Types[kind] = stored
	}
	return c, nil
}
