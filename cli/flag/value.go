// Package flag has the kinds of flags that commands use: their values, their groups in a help text,
// and what shells offer to complete them.
package flag

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// Number is a flag whose value is a whole number within bounds.
type Number[T int | int64 | uint32 | uint64] struct {
	value *T
	least int64
	most  uint64
}

// Count makes a flag for whole numbers from least on.
func Count[T int | int64 | uint32 | uint64](value *T, least int64) *Number[T] {
	n := &Number[T]{value: value, least: least, most: math.MaxInt64}
	switch any(*value).(type) {
	case uint32:
		n.most = math.MaxUint32
	case uint64:
		n.most = math.MaxUint64
	}
	return n
}

func (n *Number[T]) String() string { return fmt.Sprint(*n.value) }
func (n *Number[T]) Type() string   { return "n" }
func (n *Number[T]) Set(text string) error {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		if v < n.least || v > 0 && uint64(v) > n.most {
			return n.bounds()
		}
		*n.value = T(v)
		return nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v > n.most {
		return n.bounds()
	}
	*n.value = T(v)
	return nil
}

func (n *Number[T]) bounds() error {
	if n.least == math.MinInt64 {
		return errors.New("must be a whole number")
	}
	if n.most == math.MaxUint32 {
		return fmt.Errorf("must be a whole number from %d to %d", n.least, n.most)
	}
	return fmt.Errorf("must be a whole number, %d or more", n.least)
}

// two is a flag that sets two numbers.
type two struct{ first, second *Number[int] }

// CountBoth makes a flag for whole numbers from least on, which sets both values.
func CountBoth(first, second *int, least int64) pflag.Value {
	return &two{Count(first, least), Count(second, least)}
}

func (t *two) String() string        { return t.first.String() }
func (t *two) Type() string          { return t.first.Type() }
func (t *two) Set(text string) error { return cmp.Or(t.first.Set(text), t.second.Set(text)) }

// Time is a flag whose value is a time.
type Time time.Time

func (m *Time) String() string { return (*time.Time)(m).Format(time.RFC3339Nano) }
func (m *Time) Type() string   { return "time" }
func (m *Time) Set(text string) error {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("must be a time such as 2016-01-01T00:00:00Z")
	}
	*m = Time(t.UTC())
	return nil
}

// Duration is a flag whose value is a duration, from 0 on.
type Duration time.Duration

func (s *Duration) String() string { return experiment.DurationText(time.Duration(*s)) }
func (s *Duration) Type() string   { return "duration" }
func (s *Duration) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a duration such as 10s or 1h30m")
	}
	*s = Duration(d)
	return nil
}

// Pairs is a flag that sets a workload's own settings, as KEY=VALUE,….
type Pairs struct {
	Workload string
	Settings *workload.Settings
	Keys     []string // that were given, as settings have them
}

func (p *Pairs) String() string { return "" }
func (p *Pairs) Type() string   { return "KEY=VALUE,…" }
func (p *Pairs) Set(text string) error {
	var items []string
	for _, item := range strings.Split(text, ",") {
		if n := len(items); n > 0 && !strings.Contains(item, "=") && item != "" {
			items[n-1] += "," + item // of a list, as in tags=a,b
			continue
		}
		items = append(items, item)
	}
	for _, item := range items {
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" || value == "" {
			return fmt.Errorf("%q is not KEY=VALUE; commas separate settings, and the items of a list", item)
		}
		key = p.Workload + "." + key
		p.Settings.Set(key, value)
		p.Keys = append(p.Keys, key)
	}
	return nil
}
