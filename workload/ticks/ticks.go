// Package ticks provides a workload of a stock exchange: trades and quotes of symbols in trading
// sessions, some a thousand times as active as others, with bursts, corrections, cancels and late
// reports. docs/ticks.md is the user documentation.
//
// Each symbol has a random stream of its own, so the rows of a symbol do not depend on the symbols
// that are read with it. Time is divided into blocks of some thousand rows, and within a block the
// rows of each table are sorted by their arrival.
package ticks

import (
	"fmt"
	"math"
	"time"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Name is the name of the workload.
const Name = "ticks"

// Workload returns the workload.
func Workload() workload.Workload { return useCase{} }

type useCase struct{}

func (useCase) Name() string { return Name }

func (useCase) Help() string {
	return "a stock exchange's: trades and quotes of symbols in trading sessions, with corrections and late reports"
}

const (
	maxSymbols    = 1_000_000
	leastInterval = time.Microsecond
	// The rules of daylight saving time and holidays are those since the first year.
	firstYear, lastYear = 2007, 2250
)

// Settings implements workload.Workload.
func (useCase) Settings() []option.Option {
	return []option.Option{
		{Name: "skew", Type: option.Number(0, 2), Default: "1", Help: "exponent of Zipf's law for the rows of symbols, 0 to 2; 0: all have as many"},
		{Name: "quotes", Type: option.Integer(1, 100), Default: "4", Help: "quotes per trade, 1 to 100"},
		{Name: "late", Type: option.Number(0, 0.9), Default: "0.002", Help: "share of trades reported late, 0 to 0.9"},
		{Name: "delay", Type: option.Durations(time.Millisecond, time.Hour), Default: "1s..30s", Help: "delay of late reports: a duration from 1ms to 1h, or a range"},
		{Name: "precision", Type: option.Choice("1ns", "1us", "1ms"), Default: "1us", Help: "all times are multiples of it: 1ns, 1us or 1ms"},
	}
}

// QuerySettings implements workload.Workload.
func (useCase) QuerySettings() []option.Option { return nil }

// DefaultSpan implements workload.Spanned: a Monday, since New Year's Day has no session.
func (useCase) DefaultSpan() (start, end time.Time) {
	start = time.Date(2016, time.January, 4, 0, 0, 0, 0, time.UTC)
	return start, start.AddDate(0, 0, 1)
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
	rows := d.rows
	if s.MaxPoints > 0 {
		rows = min(rows, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	known := series.Values{First: s.Start, Last: s.End, Step: time.Duration(d.unit), StepBy: Name + ".precision"}
	return workload.Description{Values: known, RowsAtMost: rows, Memory: uint64(s.Scale) * 128, Identity: d.identity(), Facts: d.facts()}
}

// Dataset implements workload.Workload.
func (useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	d, err := newDataset(s)
	if err != nil {
		return nil, err
	}
	var out workload.Dataset = d
	if s.Groups > 1 {
		out = d.Share(workload.Share{Index: int(s.Group), Count: int(s.Groups)})
	}
	if s.MaxPoints > 0 {
		out = workload.LimitRows(out, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	return out, nil
}

// checkSpec checks the settings that every workload has.
func checkSpec(s workload.Spec) error {
	if err := s.CheckSpan(); err != nil {
		return err
	}
	switch {
	case s.Scale < 1 || s.Scale > maxSymbols:
		return workload.Bad("scale", "must be 1 to %d symbols", maxSymbols)
	case s.InitialScale != 0 && s.InitialScale != s.Scale:
		return workload.Bad("initial-scale", "the symbols of ticks are there from the start; leave it out")
	case s.MaxMetrics != 0:
		return workload.Bad("max-metric-count", "is for devops-generic; leave it out")
	case s.Records != 0 || s.InARow > 1 || s.NewTags != 0 || s.NewFields != 0:
		return workload.Bad("records-per-device", "and rows-in-a-row, new-tags and new-fields are not for ticks; leave them out")
	case s.Start.Year() < firstYear || s.End.Year() > lastYear:
		return workload.Bad("timestamp-start", "trading sessions are from the years %d to %d", firstYear, lastYear)
	case s.Interval < leastInterval:
		return workload.Bad("log-interval", "%s is the mean time between two rows of a symbol, and must be at least %s", s.Interval, leastInterval)
	}
	return nil
}

// identity returns the settings' part of the fingerprint. The version is increased whenever the same
// settings start to give other rows.
func (d *Dataset) identity() string {
	return fmt.Sprintf("ticks 1 skew=%v quotes=%d late=%v delay=%d..%d precision=%d\n", d.skew, d.perTrade, d.late, d.leastDelay, d.mostDelay, d.unit)
}

// facts implements workload.Description's.
func (d *Dataset) facts() []string {
	count := "1 trading session"
	if len(d.sessions) > 1 {
		count = fmt.Sprintf("%d trading sessions", len(d.sessions))
	}
	facts := []string{
		count + " of New York",
		fmt.Sprintf("%.3g %% of the rows are of the most active symbol", 100*d.weights[0]/d.weightSum),
		fmt.Sprintf("times are multiples of %v", time.Duration(d.unit)),
	}
	if d.late > 0 {
		facts = append(facts, fmt.Sprintf("%.3g %% of trades are reported %v to %v late", 100*d.late, time.Duration(d.leastDelay), time.Duration(d.mostDelay)))
	}
	return facts
}
