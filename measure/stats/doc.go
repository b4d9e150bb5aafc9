// Package stats says how much measured figures tell: what a sample's median
// is and how sure one can be of it, and whether two samples differ. It is pure
// functions without state, and nothing in it is drawn at random.
//
// # Samples
//
// A sample is figures greater than 0: durations, rates, sizes. A figure less
// than 0 was cut off: the true one is at least its magnitude, as in
// result.Queries.Each. Such figures take part; what can only be bounded because
// of them says so (see Value).
//
// Two kinds of samples must not be confused. Repeats, one figure each, are
// independent of each other when their order was shuffled or interleaved:
// Summarize and Compare are for them. The latencies within one repeat follow
// each other and are alike: Within and Paired count how many independent ones
// they are worth. Even so they know nothing of what differs from repeat to
// repeat (memory layout, caches, neighbours on the machine), which is often
// more; so they never show that two systems differ.
//
// # Methods
//
// The interval of a median is that of order statistics (benchmath), its level
// the one reached. Two samples are compared by the exact Mann-Whitney U test
// (benchmath). The ratio is that of their medians. Its interval is that of the
// Hodges-Lehmann estimate on the logarithms, which belongs to that test: the interval
// leaves out 1 just where the test finds a difference at its level. A ratio outside of
// the interval is not told: figures of two clusters make such ones. Many comparisons at once are
// corrected by Holm. Rounds that give two systems the same queries, other ones than
// the round before, make both slower or faster together; the test takes that for
// noise, which makes it conservative.
//
// # Power
//
// Measured by TestPower: the part of 1,000 comparisons, of six repeats a side,
// in which a change of 5 % was found at 5 %, where repeats of one thing differ
// by the given coefficient of variation; alone, and as the only change among 16
// query types after Holm's correction.
//
//	variation   alone    among 16
//	0.5 %       1.000       1.000
//	1 %         1.000       0.987
//	2 %         0.953       0.488
//	3 %         0.683       0.153
//
// So six repeats are enough where repeats vary by 1 %, and too few where they
// vary by 3 %.
package stats
