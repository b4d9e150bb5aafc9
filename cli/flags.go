package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// moment is a flag whose value is a time.
type moment struct{ value *time.Time }

func (m moment) String() string { return m.value.Format(time.RFC3339Nano) }
func (m moment) Type() string   { return "time" }
func (m moment) Set(text string) error {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("must be a time such as 2016-01-01T00:00:00Z")
	}
	*m.value = t.UTC()
	return nil
}

// span is a flag whose value is a duration, from 0 on.
type span struct{ value *time.Duration }

func (s span) String() string { return experiment.DurationText(*s.value) }
func (s span) Type() string   { return "duration" }
func (s span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a duration such as 10s or 1h30m")
	}
	*s.value = d
	return nil
}

// pairs is a flag that sets keys of a section of an experiment, as KEY=VALUE,….
type pairs struct {
	section any
	given   [][2]string
}

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return "KEY=VALUE,…" }
func (p *pairs) Set(text string) error {
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" || value == "" {
			return fmt.Errorf("%q is not KEY=VALUE", item)
		}
		if err := experiment.Set(p.section, key, value); err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
		p.given = append(p.given, [2]string{key, value})
	}
	return nil
}

// names returns the keys that were given; none of no pairs.
func (p *pairs) names() []string {
	if p == nil {
		return nil
	}
	var names []string
	for _, pair := range p.given {
		names = append(names, pair[0])
	}
	return names
}

// copy sets the same keys in another section.
func (p *pairs) copy(section any) {
	for _, pair := range p.given {
		_ = experiment.Set(section, pair[0], pair[1]) // as it could be set in this one
	}
}

// iotdbQueries is the name of the flag of the queries' parameters.
const iotdbQueries = "iotdb-queries"

// askedFlag adds the flag of the iotdb workload's queries.
func askedFlag(cmd *cobra.Command, q *workload.IoTDBQueries) *pairs {
	p := &pairs{section: q}
	cmd.Flags().Var(p, iotdbQueries, "parameters of iotdb's queries, such as devices=5,aggregate=max; see docs/iotdb.md")
	return p
}

// specFlags adds the flags of TSBS's generator that fix a dataset, and one for
// what it does not have, which is returned.
func (a *app) specFlags(cmd *cobra.Command, s *workload.Spec) *pairs {
	f := cmd.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "workload" { // as experiments call it
			name = "use-case"
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&s.Name, "use-case", s.Name, "workload: "+strings.Join(a.catalog.workloadNames(), ", "))
	f.Var(count(&s.Seed, math.MinInt64), "seed", "of the random stream; 0 draws one from the clock")
	f.Var(count(&s.Scale, 0), "scale", "hosts at the end of the time range")
	f.Var(count(&s.InitialScale, 0), "initial-scale", "hosts at its start; 0: as --scale")
	f.Var(moment{&s.Start}, "timestamp-start", "first epoch, RFC 3339")
	f.Var(moment{&s.End}, "timestamp-end", "end of the time range, exclusive, RFC 3339")
	f.Var(span{&s.Interval}, "log-interval", "time between the rows of a host")
	f.Var(count(&s.MaxPoints, 0), "max-data-points", "rows at most, those of hosts that do not exist yet included; 0: all")
	f.Var(count(&s.Records, 0), "records-per-device", "rows of a device in a table at most; 0: all")
	f.Var(count(&s.InARow, 0), "rows-in-a-row", "intervals of a device that come before those of the next one; 0: one")
	f.Var(count(&s.NewTags, 0), "new-tags", "tags of each table that appear after a third of the time")
	f.Var(count(&s.NewFields, 0), "new-fields", "fields of each table that appear after two thirds of the time")
	f.Var(count(&s.MaxMetrics, 0), "max-metric-count", "metrics of a host at most, in devops-generic; 0: 100")
	f.Var(count(&s.Groups, 0), "interleaved-generation-groups", "number of groups that the rows are dealt to; 0: no groups")
	f.Var(count(&s.Group, 0), "interleaved-generation-group-id", "which group's rows to take, from 0")
	iotdb := &pairs{section: &s.IoTDB}
	f.Var(iotdb, "iotdb", "settings of the iotdb workload, such as sensors=200,late=0.1; see docs/iotdb.md")
	complete(cmd, "use-case", a.catalog.workloadNames())
	return iotdb
}

// drawSeed replaces the seed 0 by one from the clock, as TSBS does, and tells
// the user.
func (a *app) drawSeed(s *workload.Spec) {
	if s.Seed == 0 {
		s.Seed = int64(time.Now().Nanosecond()) + 1
		fmt.Fprintf(a.stderr, "tsmark: --seed %d was drawn from the clock\n", s.Seed)
	}
}

// complete lets the shell complete a flag's value from a list.
func complete(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag was defined a line earlier
	}
}
