package document

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rule is a condition on measurements. Exactly one of these is set: Order, First, Alike, Changes,
// More, Peak, Lead, Reach, Wins, Aggregate, Fails, Input, Columns or Rows.
//
// A measurement is a figure of a system at a point of an experiment: for loads the rate, or the
// figure of a query type. Where selects points by parameters and the document's values; parameters
// not in Where may have any value.
type Rule struct {
	Of    string            `yaml:"of"`    // name of an experiment
	Where map[string]string `yaml:"where"` // by path, such as workload.scale
	// Types are query types; empty: the rule is about loads.
	Types []string `yaml:"types"`
	// Most requires more than half of the comparisons to hold instead of all.
	Most bool `yaml:"most"`
	// Full says that only the full size has the compared points.
	Full bool `yaml:"full"`
	// Figure selects the figure. For loads: load (rows/s until settled, the default), acked, disk,
	// DiskShare, Points or Settling. For types: mean (the default, the inverse of a
	// worker's queries/s), median, Rate or ReadBytes. For both: the Usages.
	Figure string `yaml:"figure"`

	// The factor by which Order, First, Changes, More and Aggregate are better or worse.
	By `yaml:",inline"`

	// Order lists systems, each better than the next, at every point and for every type.
	Order []string `yaml:"order"`

	// Alike lists systems whose figures are within a tenth of each other.
	Alike []string `yaml:"alike"`

	// First is a system that is better than all others of the document.
	First string `yaml:"first"`

	// Changes describes the change of a system's figure between two values of a parameter.
	Changes *Change `yaml:"changes"`

	// More says that one figure changes more along a parameter than others do.
	More *More `yaml:"more"`

	// Peak is the value of a parameter at which a system is best.
	Peak *Peak `yaml:"peak"`

	// Lead names the values of a parameter at which one system's lead over another is largest and
	// smallest.
	Lead *Lead `yaml:"lead"`

	// Reach is a bound that systems' figures satisfy.
	Reach *Reach `yaml:"reach"`

	// Wins is the number of types and points for which one system is better than another.
	Wins *Wins `yaml:"wins"`

	// Aggregate is the benefit of answering query types from a continuous aggregate.
	Aggregate *Aggregate `yaml:"aggregate"`

	// Fails names systems whose loads fail.
	Fails *Fails `yaml:"fails"`

	// Input compares the sizes of systems' input files.
	Input *Input `yaml:"input"`

	// Columns names systems that add columns when rows introduce them.
	Columns *Columns `yaml:"columns"`

	// Rows is the number of rows in the full dataset, and Metrics the number of values other than
	// NULL (0: no claim). Both are computed by the generator without a run.
	Rows    int64 `yaml:"rows"`
	Metrics int64 `yaml:"metrics"`
}

// By is the factor by which one figure is better than another.
type By struct {
	AtLeast float64 `yaml:"at-least"` // 0: any factor above 1
	// About is a factor measured on another machine. It holds between two thirds and one and a half
	// times that factor, 16 to 36 for 24. Below 2.25, where two thirds come near 1, it holds between
	// its square root and that root's cube, 1.05 to 1.15 for 1.1.
	About float64 `yaml:"about"`
	// AtMost is an upper bound, such as 2 for "slightly"; 0: none.
	AtMost float64 `yaml:"at-most"`
}

// Ends returns the bounds of the accepted factors. Least is 1 for any factor.
func (b By) Ends() (least, most float64) {
	least, most = max(b.AtLeast, 1), math.Inf(1)
	if b.About > 0 {
		margin := min(1.5, math.Sqrt(b.About))
		least, most = b.About/margin, b.About*margin
	}
	if b.AtMost > 0 {
		most = b.AtMost
	}
	return least, most
}

// Aggregate compares query types from rows with the same types from an aggregate.
type Aggregate struct {
	Systems []string `yaml:"systems"` // systems whose figure is worse from rows, by the rule's By
	Equal   bool     `yaml:"equal"`   // instead: both answers are correct, and thus equal
}

// Change is the change of systems' figures along a parameter.
type Change struct {
	Systems []string `yaml:"systems"`
	Along   string   `yaml:"along"` // path
	From    string   `yaml:"from"`  // the document's values
	To      string   `yaml:"to"`
	Through []string `yaml:"through"` // values in between, compared with From as To is
	// Against is the experiment of To, if it differs from the rule's.
	Against string    `yaml:"against"`
	Goes    Direction `yaml:"goes"`
}

// More is a figure of a system that improves, or degrades, by a larger factor than those of other
// systems, or of other query types.
type More struct {
	System    string    `yaml:"system"` // with the rule's Types
	Than      []string  `yaml:"than"`   // systems; empty: the same system, for other types
	ThanTypes []string  `yaml:"than-types"`
	Along     string    `yaml:"along"` // path
	From      string    `yaml:"from"`  // the document's values
	To        string    `yaml:"to"`
	Goes      Direction `yaml:"goes"` // better or worse
}

// Direction is the direction of a change.
type Direction string

// The directions. Better is a higher rate, a shorter time, or less disk.
const (
	Better Direction = "better"
	Worse  Direction = "worse"
	Same   Direction = "same" // within a tenth
	// NotBetter is worse, or within a tenth.
	NotBetter Direction = "not-better"
)

// Peak is the value of a parameter at which systems are best.
type Peak struct {
	Systems []string `yaml:"systems"`
	Along   string   `yaml:"along"`
	At      string   `yaml:"at"` // the document's value
}

// Lead is the ratio of one system's figure to another's, along a parameter.
type Lead struct {
	Better   string `yaml:"better"`
	Than     string `yaml:"than"`
	Along    string `yaml:"along"`
	Largest  string `yaml:"largest"`  // the document's values; empty: no claim
	Smallest string `yaml:"smallest"` // likewise
}

// Reach is a bound of a figure, in its unit, such as rows/s or seconds: exactly one of AtLeast,
// AtMost and About is set.
type Reach struct {
	Systems []string `yaml:"systems"`
	AtLeast float64  `yaml:"at-least"` // the figure is above this
	AtMost  float64  `yaml:"at-most"`  // the figure is below this
	About   float64  `yaml:"about"`    // the figure is within a tenth of this
}

// Number returns the number to compare the figure with.
func (r *Reach) Number() float64 { return max(r.AtLeast, r.AtMost, r.About) }

// Fails lists systems that cannot be loaded at the rule's points, although they can at others of
// the experiment.
type Fails struct {
	Systems []string `yaml:"systems"`
}

// Input is the difference between the input files of two systems as a share of the larger: as
// printed, in whole percent.
type Input struct {
	Smaller string `yaml:"smaller"`
	Than    string `yaml:"than"`
	From    int    `yaml:"from"`
	To      int    `yaml:"to"`
	// Gzip is about what gzip leaves of either file, as printed, in percent; 0: no claim.
	Gzip float64 `yaml:"gzip"`
}

// Figures of loads. Points is the rate of values per second until all had settled, for rows with
// different numbers of fields. Settling is the share of a load's time after its last
// acknowledgement. DiskShare is the ratio of the size on disk to the system's input file.
const (
	Points    = "points"
	Settling  = "settling"
	DiskShare = "disk-share"
)

// Figures of query types. Rate is the queries per second of all workers together. ReadBytes is the
// bytes that the system reports to have read for a query, of experiments with an aggregate.
const (
	Rate      = "rate"
	ReadBytes = "read-bytes"
)

// Resource usage during loads or queries: for loads until they have settled, for query types per
// query if the figure adds up. Less is better.
const (
	ServerCPU     = "server-cpu"     // seconds
	ServerMemory  = "server-memory"  // bytes, maximum
	ServerWritten = "server-written" // bytes to disk
	ClientCPU     = "client-cpu"     // seconds
	ClientUser    = "client-user"    // seconds in user mode
	ClientSystem  = "client-system"  // seconds in the kernel
	ClientShare   = "client-share"   // of all cores
	// MemoryGrowth is the ratio of the server's mean memory in the last third of the time to that
	// in the first: 1 is flat.
	MemoryGrowth = "memory-growth"
)

// Usages lists the usage figures.
func Usages() []string {
	return []string{ServerCPU, ServerMemory, ServerWritten, ClientCPU, ClientUser, ClientSystem, ClientShare, MemoryGrowth}
}

// Wins is a count of comparisons.
type Wins struct {
	Better string `yaml:"better"`
	Than   string `yaml:"than"`
	Least  int    `yaml:"least"` // minimum number of wins, as printed
	Of     int    `yaml:"of"`    // number of comparisons
	// OrEqual counts ties as well: the printed numbers are "better or equal".
	OrEqual bool `yaml:"or-equal"`
}

// kinds returns the number of alternatives that are set.
func (r *Rule) kinds() int {
	n := 0
	for _, has := range []bool{len(r.Order) > 0, len(r.Alike) > 0, r.First != "", r.Changes != nil, r.More != nil, r.Peak != nil, r.Lead != nil, r.Reach != nil, r.Wins != nil, r.Aggregate != nil, r.Fails != nil, r.Input != nil, r.Columns != nil, r.Rows > 0} {
		if has {
			n++
		}
	}
	return n
}

// systems returns the systems in a rule.
func (r *Rule) systems() []string {
	list := slices.Concat(r.Order, r.Alike)
	if r.First != "" {
		list = append(list, r.First)
	}
	if r.Changes != nil {
		list = append(list, r.Changes.Systems...)
	}
	if r.More != nil {
		list = append(append(list, r.More.System), r.More.Than...)
	}
	if r.Peak != nil {
		list = append(list, r.Peak.Systems...)
	}
	if r.Lead != nil {
		list = append(list, r.Lead.Better, r.Lead.Than)
	}
	if r.Reach != nil {
		list = append(list, r.Reach.Systems...)
	}
	if r.Wins != nil {
		list = append(list, r.Wins.Better, r.Wins.Than)
	}
	if r.Aggregate != nil {
		list = append(list, r.Aggregate.Systems...)
	}
	if r.Fails != nil {
		list = append(list, r.Fails.Systems...)
	}
	if r.Input != nil {
		list = append(list, r.Input.Smaller, r.Input.Than)
	}
	if r.Columns != nil {
		list = append(list, slices.Concat(r.Columns.Take, r.Columns.Refuse)...)
	}
	return list
}

// check returns the errors in a claim.
func (c *Claim) check(d *Document) error {
	if (c.Missing == "") == (len(c.Rules) == 0) {
		return errors.New("has either rules or a reason for having none (missing)")
	}
	for i, r := range c.Rules {
		e, ok := d.Experiment(r.Of)
		switch {
		case !ok:
			return fmt.Errorf("rule %d is of %q, and the document has no such experiment", i+1, r.Of)
		case e.Missing != "":
			return fmt.Errorf("rule %d is of %s, which cannot be run", i+1, r.Of)
		case r.kinds() != 1:
			return fmt.Errorf("rule %d has %d of order, alike, first, changes, more, peak, lead, reach, wins, aggregate, fails, input, columns and rows, expected one", i+1, r.kinds())
		case len(r.Types) == 0 && !slices.Contains(append([]string{"", "load", "acked", "disk", DiskShare, Points, Settling}, Usages()...), r.Figure):
			return fmt.Errorf("rule %d: loads have no figure %q", i+1, r.Figure)
		case len(r.Types) > 0 && !slices.Contains(append([]string{"", "mean", "median", Rate, ReadBytes}, Usages()...), r.Figure):
			return fmt.Errorf("rule %d: query types have no figure %q", i+1, r.Figure)
		}
		if r.Aggregate != nil && len(r.Types) == 0 {
			return fmt.Errorf("rule %d is about an aggregate, and names no query types", i+1)
		}
		if r.Aggregate != nil && r.Figure != "" && r.Figure != ReadBytes {
			return fmt.Errorf("rule %d is about an aggregate, and its figure is %s; write %s, or none for the times", i+1, r.Figure, ReadBytes)
		}
		if err := r.checkFactors(); err != nil {
			return fmt.Errorf("rule %d %w", i+1, err)
		}
		if r.Fails != nil && len(r.Types) > 0 {
			return fmt.Errorf("rule %d is about loads that fail, and names query types", i+1)
		}
		for _, name := range r.systems() {
			s, ok := d.System(name)
			if !ok {
				return fmt.Errorf("rule %d names %q, and the document has no such system", i+1, name)
			}
			if r.Input != nil && s.Input == "" {
				return fmt.Errorf("rule %d is about the input file of %s, whose format (input) the document does not say", i+1, name)
			}
		}
		if c := r.Changes; c != nil && !slices.Contains([]Direction{Better, Worse, Same, NotBetter}, c.Goes) {
			return fmt.Errorf("rule %d goes %q; write better, worse, same or not-better", i+1, c.Goes)
		}
		if m := r.More; m != nil && m.Goes != Better && m.Goes != Worse {
			return fmt.Errorf("rule %d goes %q more; write better or worse", i+1, m.Goes)
		}
		if m := r.More; m != nil && len(m.Than) == 0 && len(m.ThanTypes) == 0 {
			return fmt.Errorf("rule %d is about more than nothing; write than or than-types", i+1)
		}
		if k := r.Peak; k != nil && strings.HasPrefix(k.Along, "targets.") {
			return fmt.Errorf("rule %d: a peak is along a parameter of runs, which %s is not", i+1, k.Along)
		}
		if c := r.Changes; c != nil && c.Against != "" {
			if e, ok := d.Experiment(c.Against); !ok || e.Missing != "" {
				return fmt.Errorf("rule %d is against %q, and the document has no such experiment that can be run", i+1, c.Against)
			}
		}
	}
	return nil
}

// checkFactors returns the errors in the factors and numbers of a rule.
func (r *Rule) checkFactors() error {
	k := r.Reach
	numbers := 0
	if k != nil {
		for _, n := range []float64{k.AtLeast, k.AtMost, k.About} {
			if n > 0 {
				numbers++
			}
		}
	}
	least, most := r.By.Ends()
	switch {
	case k != nil && numbers != 1:
		return errors.New("reaches a number: write one of at-least, at-most and about")
	case r.AtLeast > 0 && r.About > 0:
		return errors.New("has at-least and about; write one of them")
	case least >= most || r.About > 0 && r.About <= 1 || r.AtLeast > 0 && r.AtLeast < 1:
		return errors.New("has factors between which nothing lies; write at-least and about above 1, and at-most above these")
	case r.By != (By{}) && len(r.Order) == 0 && r.First == "" && r.Changes == nil && r.More == nil && r.Aggregate == nil:
		return errors.New("has a factor, which only order, first, changes, more and aggregate have")
	case r.By != (By{}) && r.Changes != nil && r.Changes.Goes != Better && r.Changes.Goes != Worse:
		return fmt.Errorf("has a factor, and goes %s", r.Changes.Goes)
	case r.Metrics > 0 && r.Rows == 0:
		return errors.New("has metrics without rows")
	}
	return nil
}
