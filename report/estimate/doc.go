// Package estimate computes from a run the one figure that every table, chart and
// comparison shows for a query type on a target, or for its loads.
//
// # Over which queries
//
// A query has a place in its type's drawn sequence (see result.Queries.First).
// The common queries of a type in a round are the ones whose places every verified
// target of the run reached in that round, so that all targets are judged by the same
// queries. A target that is not verified has its own, since no other target's
// figure depends on it.
//
// # Which figure
//
// A round's figure is the median over its common queries, and a run's figure is
// stats.Summarize over its rounds: their median, and its interval by order statistics.
// A run with a single round has the median over its common queries, with the
// interval that these queries allow (stats.EstimateRepeat), which does not include
// differences between rounds. Ratios are those of the same medians: see
// package compare.
//
// Several runs are compared over the queries that all of them have: see Align.
// A run that ran as many queries a round as the other one keeps its figures
// this way.
package estimate
