// Package stats estimates the median of a sample with its uncertainty, and tests whether two
// samples differ. Its functions are pure and deterministic.
//
// # Samples
//
// A sample consists of figures greater than 0: durations, rates, sizes. A figure less than 0 was
// cut off: the true one is at least its magnitude, as in result.Queries.Each. Such figures are part
// of the sample; a result that is only bounded because of them is marked as such (see Value).
//
// Two kinds of samples must not be confused. Repeats, with one figure each, are independent if
// their order was shuffled or interleaved: Summarize and Compare are for them. The latencies within
// one repeat are correlated: EstimateRepeat and ComparePaired estimate the number of independent
// latencies they are worth. They still contain no variation between repeats (memory layout, caches,
// other load on the machine), which is often larger, so they never show that two systems differ.
//
// # Methods
//
// The interval of a median is that of order statistics (benchmath), with the level it reaches. Two
// samples are compared by the exact Mann-Whitney U test (benchmath). The ratio is the ratio of
// their medians. Its interval is that of the Hodges-Lehmann estimate on the logarithms, which
// belongs to the test: it excludes 1 exactly if the test finds a difference at its level. A ratio
// outside of the interval is not reported; figures in two clusters can cause that. Multiple
// comparisons are corrected by Holm. If a round runs the same queries on two systems, and the next
// round runs others, the queries make both systems slower or faster together; the test counts that
// as noise and is therefore conservative.
//
// # Power
//
// Measured by TestPower: the fraction of 1,000 comparisons, with six repeats per side, that found a
// change of 5 % at the level of 5 %, for repeats with the given coefficient of variation; for a
// single comparison, and as the only change among 16 query types with Holm's correction.
//
//	variation   alone    among 16
//	0.5 %       1.000       1.000
//	1 %         1.000       0.987
//	2 %         0.953       0.488
//	3 %         0.683       0.153
//
// Six repeats are therefore enough if repeats vary by 1 %, and too few if they vary by 3 %.
package stats
