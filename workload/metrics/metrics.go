// Package metrics provides a workload of Prometheus's kind: targets that are scraped, each with about
// a thousand series of counters, gauges and histograms, whose labels and names are those of
// node_exporter, kube-state-metrics, cAdvisor and instrumented applications. Pods are replaced while
// the data is written, scrapes fail, and series end with staleness markers. docs/metrics.md is the
// user documentation.
//
// Each value is a function of the series and the scrape alone, so any part of the dataset can be
// read by itself, and readers keep no memory per series. A metric is a table: see series.Metric.
package metrics

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Name is the name of the workload.
const Name = "metrics"

// Workload returns the workload.
func Workload() workload.Workload { return useCase{} }

type useCase struct{}

func (useCase) Name() string { return Name }

func (useCase) Help() string {
	return "Prometheus's: a table a metric, targets with counters, gauges and histograms, pods that are replaced, failed scrapes"
}

// The values of the setting histograms.
const (
	classic = "classic"
	native  = "native"
	both    = "both"
)

const (
	// leastSeries is a number of series that the fixed part of every job stays below.
	leastSeries = 500
	maxSeries   = 1_000_000
	maxTargets  = 10_000_000
	maxFailed   = 0.25
	leastScrape = 100 * time.Millisecond
	// leastLife is the least number of scrapes of a pod.
	leastLife = 4
)

// Settings implements workload.Workload.
func (useCase) Settings() []option.Option {
	return []option.Option{
		{Name: "series", Type: option.Integer(leastSeries, maxSeries), Default: "1000", Help: "about how many series a target has at a time, at least 500"},
		{Name: "churn", Type: option.Number(0, 60), Default: "0.06", Help: "share of application pods replaced per hour, 0 to 60, one deployment after the other"},
		{Name: "classes", Type: option.CheckedBy("classes", checkClasses), Empty: "all", Help: "classes of values to generate, separated by commas: " + strings.Join(classNames(), ", ")},
		{Name: "histograms", Type: option.Choice(classic, native, both), Default: both, Help: "kinds of histograms to generate"},
		{Name: "late", Type: option.Number(0, 0.9), Default: "0", Help: "share of scrapes whose samples arrive 1 to 20 intervals late"},
		{Name: "failed", Type: option.Number(0, maxFailed), Default: "0.002", Help: "share of scrapes that fail, 0 to 0.25"},
	}
}

// QuerySettings implements workload.Workload.
func (useCase) QuerySettings() []option.Option { return nil }

func checkClasses(text string) error {
	for _, name := range splitClasses(text) {
		if !slices.Contains(classNames(), name) {
			return fmt.Errorf("must be classes separated by commas, of %s, not %q", strings.Join(classNames(), ", "), name)
		}
	}
	return nil
}

func splitClasses(text string) []string {
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// Check implements workload.Workload.
func (useCase) Check(s workload.Spec) error {
	_, err := newDataset(s)
	return err
}

// Describe implements workload.Workload.
func (useCase) Describe(s workload.Spec) workload.Description {
	d, err := newDataset(s)
	if err != nil {
		return workload.Description{}
	}
	over, rows := bits.Mul64(uint64(d.epochs), d.alive)
	if rows += d.replaced; over > 0 || rows > math.MaxInt64 {
		rows = math.MaxInt64
	}
	if s.MaxPoints > 0 {
		rows = min(rows, s.MaxPoints)
	}
	out := workload.Description{Values: knownTimes(s), RowsAtMost: int64(rows), Memory: 64 * blockRows, Identity: d.identity(), Facts: d.facts()}
	if d.late > 0 {
		out.Late = "scrapes whose samples arrive late"
	}
	return out
}

// knownTimes describes the rows' times: whole milliseconds.
func knownTimes(s workload.Spec) series.Values {
	s.Interval = time.Millisecond
	return s.Values()
}

// Dataset implements workload.Workload.
func (useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	d, err := newDataset(s)
	if err != nil {
		return nil, err
	}
	known := knownTimes(s)
	d.schema.First, d.schema.Last, d.schema.Step = known.First, known.Last, known.Step
	var out workload.Dataset = d
	if s.Groups > 1 {
		out = workload.Share{Index: int(s.Group), Count: int(s.Groups)}.Dataset(out)
	}
	if s.MaxPoints > 0 {
		out = workload.LimitRows(out, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	return workload.Arrange(out, s)
}

// checkSpec checks the settings that every workload has.
func checkSpec(s workload.Spec) error {
	if err := s.CheckSpan(); err != nil {
		return err
	}
	switch {
	case s.Scale < 1 || s.Scale > maxTargets:
		return workload.Bad("scale", "must be 1 to %d targets", maxTargets)
	case s.InitialScale != 0 && s.InitialScale != s.Scale:
		return workload.Bad("initial-scale", "the targets of metrics are there from the start; leave it out, and set metrics.churn to have pods replaced")
	case s.MaxMetrics != 0:
		return workload.Bad("max-metric-count", "is for devops-generic; the number of series here is metrics.series")
	case s.Records != 0 || s.NewTags != 0 || s.NewFields != 0:
		return workload.Bad("records-per-device", "and new-tags and new-fields are not for metrics, whose tables have one field; leave them out")
	case s.Start.Year() < 1971 || s.End.Year() > 2250:
		return workload.Bad("timestamp-start", "the samples of metrics are from the years 1971 to 2250")
	case s.Start.UnixNano()%int64(time.Millisecond) != 0:
		return workload.Bad("timestamp-start", "%s must be a whole millisecond", s.Start.Format(time.RFC3339Nano))
	case s.Interval < leastScrape || s.Interval%time.Millisecond != 0:
		return workload.Bad("log-interval", "%s is the time between scrapes, and must be whole milliseconds, at least %s, such as 15s", s.Interval, leastScrape)
	case uint64(s.End.Sub(s.Start)/s.Interval) > math.MaxUint32:
		return workload.Bad("log-interval", "%s gives more than %d scrapes of a target; lengthen it", s.Interval, uint32(math.MaxUint32))
	}
	return nil
}

// identity returns the settings' part of the fingerprint. The version is increased whenever the same
// settings start to give other rows.
func (d *Dataset) identity() string {
	return fmt.Sprintf("metrics 2 series=%d churn=%v classes=%s histograms=%s late=%v failed=%v\n",
		d.perTarget, d.churn, strings.Join(d.classes, ","), d.histograms, d.late, d.failed)
}

// facts implements workload.Description's.
func (d *Dataset) facts() []string {
	facts := []string{
		fmt.Sprintf("targets scraped every %v: application pods %d, node_exporter %d, kubelet %d, kube-state-metrics %d",
			d.interval, d.counts[app], d.counts[node], d.counts[kubelet], d.counts[kube]),
		fmt.Sprintf("%d metrics, %d series at a time, %d in all", len(d.schema.Tables), d.alive, d.schema.Series),
	}
	if n := d.podNumbers - d.counts[app]; n > 0 {
		facts = append(facts, fmt.Sprintf("%d pods replaced", n))
	}
	if len(d.classes) < len(classNames()) {
		facts = append(facts, "only values of "+strings.Join(d.classes, ", "))
	}
	if d.histograms != both {
		facts = append(facts, "only "+d.histograms+" histograms")
	}
	return facts
}
