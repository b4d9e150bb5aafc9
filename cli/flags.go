package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// number is a flag whose value is a whole number within bounds.
type number[T int | int64 | uint32 | uint64] struct {
	value *T
	least int64
	most  uint64
}

// count makes a flag for whole numbers from least on.
func count[T int | int64 | uint32 | uint64](value *T, least int64) *number[T] {
	n := &number[T]{value: value, least: least, most: math.MaxInt64}
	switch any(*value).(type) {
	case uint32:
		n.most = math.MaxUint32
	case uint64:
		n.most = math.MaxUint64
	}
	return n
}

func (n *number[T]) String() string { return fmt.Sprint(*n.value) }
func (n *number[T]) Type() string   { return "n" }
func (n *number[T]) Set(text string) error {
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

func (n *number[T]) bounds() error {
	if n.least == math.MinInt64 {
		return errors.New("must be a whole number")
	}
	if n.most == math.MaxUint32 {
		return fmt.Errorf("must be a whole number from %d to %d", n.least, n.most)
	}
	return fmt.Errorf("must be a whole number, %d or more", n.least)
}

// two is a flag that sets two numbers.
type two struct{ first, second *number[int] }

// countBoth makes a flag for whole numbers from least on, which sets both values.
func countBoth(first, second *int, least int64) pflag.Value {
	return &two{count(first, least), count(second, least)}
}

func (t *two) String() string        { return t.first.String() }
func (t *two) Type() string          { return t.first.Type() }
func (t *two) Set(text string) error { return cmp.Or(t.first.Set(text), t.second.Set(text)) }

// moment is a flag whose value is a time.
type moment time.Time

func (m *moment) String() string { return (*time.Time)(m).Format(time.RFC3339Nano) }
func (m *moment) Type() string   { return "time" }
func (m *moment) Set(text string) error {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("must be a time such as 2016-01-01T00:00:00Z")
	}
	*m = moment(t.UTC())
	return nil
}

// span is a flag whose value is a duration, from 0 on.
type span time.Duration

func (s *span) String() string { return experiment.DurationText(time.Duration(*s)) }
func (s *span) Type() string   { return "duration" }
func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a duration such as 10s or 1h30m")
	}
	*s = span(d)
	return nil
}

// pairs is a flag that sets a workload's own settings, as KEY=VALUE,….
type pairs struct {
	workload string
	settings *workload.Settings
	keys     []string // that were given, as settings have them
}

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return "KEY=VALUE,…" }
func (p *pairs) Set(text string) error {
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" || value == "" {
			return fmt.Errorf("%q is not KEY=VALUE; a comma separates settings, so write a value with one in an experiment", item)
		}
		key = p.workload + "." + key
		p.settings.Set(key, value)
		p.keys = append(p.keys, key)
	}
	return nil
}

// querySettingFlags adds a flag for each workload whose queries have parameters.
func (c catalog) querySettingFlags(cmd *cobra.Command, s *workload.Settings) (flags []*pairs) {
	for _, w := range c.workloads {
		if options := w.QuerySettings(); len(options) > 0 {
			flags = append(flags, &pairs{workload: w.Name(), settings: s})
			cmd.Flags().Var(flags[len(flags)-1], w.Name()+"-queries", settingsHelp("parameters of the queries", w.Name(), options))
			completeBy(cmd, w.Name()+"-queries", completeSettingsOf(options))
		}
	}
	return flags
}

func settingsHelp(what, workload string, options []option.Option) string {
	return fmt.Sprintf("%s of the %s workload, such as %s=%s; see docs/%s.md", what, workload, options[0].Name, options[0].Default, pageOf(workload))
}

// pageOf returns the page under docs about a workload.
func pageOf(workload string) string {
	if workload == "own" {
		return "own-data"
	}
	return workload
}

// specFlags adds the flags of TSBS's generator that fix a dataset, and one for
// each workload that has settings of its own, which are returned.
func (c catalog) specFlags(cmd *cobra.Command, s *workload.Spec) (own []*pairs) {
	f := cmd.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "workload" { // as experiments call it
			name = "use-case"
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&s.Name, "use-case", s.Name, "workload: "+strings.Join(c.workloadNames(), ", "))
	f.Var(count(&s.Seed, math.MinInt64), "seed", "of the random generator; 0: drawn from the clock")
	f.Var(count(&s.Scale, 0), "scale", "hosts at the end of the time range")
	f.Var(count(&s.InitialScale, 0), "initial-scale", "hosts at its start; 0: as --scale")
	f.Var((*moment)(&s.Start), "timestamp-start", "first epoch, RFC 3339")
	f.Var((*moment)(&s.End), "timestamp-end", "end of the time range, exclusive, RFC 3339")
	f.Var((*span)(&s.Interval), "log-interval", "time between the rows of a host")
	f.Var(count(&s.MaxPoints, 0), "max-data-points", "maximum number of rows, including rows of hosts that do not exist yet; 0: all")
	f.Var(count(&s.MaxMetrics, 0), "max-metric-count", "maximum number of metrics of a host, in devops-generic; 0: 100")
	f.Var(count(&s.Groups, 0), "interleaved-generation-groups", "number of groups that share the rows; 0: no groups")
	f.Var(count(&s.Group, 0), "interleaved-generation-group-id", "which group's rows to take, from 0")
	for _, w := range c.workloads {
		if options := w.Settings(); len(options) > 0 {
			own = append(own, &pairs{workload: w.Name(), settings: &s.Settings})
			f.Var(own[len(own)-1], w.Name(), settingsHelp("settings", w.Name(), options))
			completeBy(cmd, w.Name(), completeSettingsOf(options))
		}
	}
	complete(cmd, "use-case", c.workloadNames())
	return own
}

// drawSeed replaces the seed 0 by one from the clock, as TSBS does, and reports it to
// the user.
func (a *app) drawSeed(s *workload.Spec) {
	if s.Seed == 0 {
		s.Seed = int64(time.Now().Nanosecond()) + 1
		fmt.Fprintf(a.stderr, "tsmark: --seed %d was drawn from the clock\n", s.Seed)
	}
}
