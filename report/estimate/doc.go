// Package estimate takes from a run the one figure that every table, chart and
// comparison shows of a query type on a target, or of its loads.
//
// # Over which queries
//
// A query has a place in its type's drawn sequence (see result.Queries.First).
// The common queries of a type in a round are those whose places every verified
// target of the run got to in that round, so that nobody is judged by other
// queries than its neighbours are. A target that is not verified, of which
// nobody else's figure depends, has its own.
//
// # Which figure
//
// Of each round the median over its common queries, and over the rounds
// stats.Summarize: their median, and its interval by order statistics. Of a run
// with a single round it is the median over its common queries, with the
// interval that they themselves allow (stats.Within), which knows nothing of
// what differs from round to round. Ratios are those of the same medians: see
// package compare.
//
// Several runs are compared over the queries that all of them have: see Align.
// A run that ran as many queries a round as the other one keeps its figures
// by that.
package estimate
