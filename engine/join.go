package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// JoinQueries returns the figures of queries that several clients ran at once, each its share of
// the source, as if one client had run them. It takes most figures from the tally of all
// operations, and the others from the clients' own results. In an open loop, behind is the mean
// delay with which the clients released their last arrivals.
func JoinQueries(cfg QueryConfig, t *tally.Tally, source Source, parts []*result.Queries, behind time.Duration) (*result.Queries, error) {
	var known result.Queries
	for _, p := range parts {
		if known.Withheld == "" && p.Withheld != "" {
			known.Withheld, known.Verdict = p.Withheld, p.Verdict
		}
		known.Unsupported, known.Failed = cmp.Or(known.Unsupported, p.Unsupported), cmp.Or(known.Failed, p.Failed)
		if p.Stopped == result.StoppedByTime || known.Stopped == "" {
			known.Stopped = p.Stopped
		}
		known.Sample.Uncounted += p.Sample.Uncounted
		known.WarmUp.Queries += p.WarmUp.Queries
		known.WarmUp.Seconds = max(known.WarmUp.Seconds, p.WarmUp.Seconds)
	}
	if known.WithoutFigure() {
		known.Stopped = ""
	}
	out, err := figures(&cfg, t, source, &known)
	if out.Open == nil {
		return out, err
	}
	for _, p := range parts {
		if p.Open != nil {
			out.Open.Queue += p.Open.Queue
			out.Open.Waiting += p.Open.Waiting
		}
	}
	out.Open.Saturated = saturation(out.Open, out.PerSecond, behind)
	return out, err
}

// JoinMixed returns the figures of a mixed phase that several clients ran, as if one client had run
// it: from the tallies of all batches and of the queries of each type. Distributions that
// operations do not contain, such as the lag of arrivals, are merged from the clients' histograms.
func JoinMixed(cfg MixedConfig, writes *tally.Tally, types []*tally.Tally, parts []*result.Mixed) (*result.Mixed, error) {
	out := cfg.describe()
	for _, t := range types {
		out.Types = append(out.Types, result.MixedType{Type: t.Cell.Type, Wanted: cfg.Keep})
	}
	var loads []*result.Load
	var lags []*result.Latency
	for _, p := range parts {
		loads, lags = append(loads, &p.Writes), append(lags, p.Lag)
		out.Arrivals, out.Dropped = out.Arrivals+p.Arrivals, out.Dropped+p.Dropped
		out.Early, out.Waiting = out.Early+p.Early, out.Waiting+p.Waiting
		out.Saturated = cmp.Or(out.Saturated, p.Saturated)
		for i := range p.Types {
			t := &out.Types[i]
			t.Unsupported, t.Withheld = cmp.Or(t.Unsupported, p.Types[i].Unsupported), cmp.Or(t.Withheld, p.Types[i].Withheld)
			t.Failed = cmp.Or(t.Failed, p.Types[i].Failed)
		}
	}
	written, err := JoinLoads(cfg.LoadConfig, writes, loads)
	out.Writes = *written
	if out.QueryRate != "" {
		lag, lagErr := result.MergedLatency(lags...)
		out.Lag, err = &lag, errors.Join(err, lagErr)
	}
	return &out, errors.Join(err, mixedFigures(&out, writes, types))
}

// JoinLoads returns the figures of a load that several clients wrote, each its share, as if one
// client had written it.
func JoinLoads(cfg LoadConfig, t *tally.Tally, parts []*result.Load) (*result.Load, error) {
	out, err := result.LoadOf(t)
	out.BatchSize = cfg.BatchSize
	for _, p := range parts {
		if p.Shards != nil && out.Shards == nil {
			out.Shards = t.RowsOfEach()
		}
		if p.Retries != nil && out.Retries != nil {
			out.Retries.Cause = cmp.Or(out.Retries.Cause, p.Retries.Cause)
			out.Retries.SentTwice += p.Retries.SentTwice
		}
	}
	return &out, err
}
