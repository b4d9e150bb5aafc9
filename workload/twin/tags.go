package twin

import (
	"math"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// tagValues are the values of a tag: its name, a number, and letters up to a length. It implements
// series.TagValues.
type tagValues struct {
	prefix string
	length int
	first  uint32   // series that has the first number of the list
	number []uint32 // per series; noValue: the series lacks the tag
}

const noValue = math.MaxUint32

// Append implements series.TagValues.
func (v *tagValues) Append(dst []byte, series uint32) ([]byte, bool) {
	at := series - v.first
	if at >= uint32(len(v.number)) || v.number[at] == noValue {
		return dst, false
	}
	begin := len(dst)
	dst = strconv.AppendUint(append(dst, v.prefix...), uint64(v.number[at]), 10)
	for x := splitmix.Mix(uint64(v.number[at])); len(dst)-begin < v.length; x = splitmix.Mix(x) {
		dst = append(dst, letter(x))
	}
	return dst, true
}

// letter returns a letter from random bits.
func letter(x uint64) byte { return byte('a' + splitmix.Scale(x, 26)) }

// categories draws categories by their shares.
type categories struct {
	ends []float64 // cumulated shares
	rest uint64    // further ones, equally frequent
}

// newCategories makes the categories of shares and of others, which have the share that is left.
func newCategories(shares []float64, others uint64, othersShare float64) categories {
	var c categories
	total := sum(shares)
	if others > 0 {
		total += othersShare
		c.rest = others
	}
	end := 0.0
	for _, x := range shares {
		end += x / total
		c.ends = append(c.ends, end)
	}
	if others == 0 && len(c.ends) > 0 {
		c.ends[len(c.ends)-1] = 1
	}
	return c
}

// category returns the category at a share of all.
func (c *categories) category(share float64) uint64 {
	if n := len(c.ends); n > 0 && share < c.ends[n-1] {
		if n > 8 {
			k, found := slices.BinarySearch(c.ends, share)
			if found {
				k++
			}
			return uint64(k)
		}
		for k, end := range c.ends {
			if share < end {
				return uint64(k)
			}
		}
	}
	n := uint64(len(c.ends))
	if c.rest == 0 {
		return max(n, 1) - 1
	}
	begin := 0.0
	if n > 0 {
		begin = c.ends[n-1]
	}
	return n + min(uint64((share-begin)/(1-begin)*float64(c.rest)), c.rest-1)
}

// squares returns the probability that two draws are equal.
func (c *categories) squares() float64 {
	p, before := 0.0, 0.0
	for _, end := range c.ends {
		p += float64((end - before) * (end - before))
		before = end
	}
	if c.rest > 0 {
		p += (1 - before) * (1 - before) / float64(c.rest)
	}
	return p
}

// spreadOut returns the share at which the p-th of n items is, in an order that looks random.
func spreadOut(p, n, salt uint64) float64 {
	if n < 2 {
		return 0
	}
	factor := (salt | 1) % n
	for workload.Divisor(int64(factor), int64(n)) != 1 {
		factor = (factor + 1) % n
	}
	high := (p%n*factor + salt%n) % n // n is at most 2^32
	return (float64(high) + 0.5) / float64(n)
}

// choices returns the number of values at a scale, with the missing one.
func (t *Tag) choices(scale uint64) uint64 {
	n := uint64(t.Values)
	if t.Grows {
		n *= scale
	}
	if t.Missing > 0 {
		n++
	}
	return n
}

// categories returns a number of choices: the first one is the missing value, if series can lack the
// tag.
func (t *Tag) categories(choices uint64) categories {
	var shares []float64
	if t.Missing > 0 {
		shares = append(shares, t.Missing)
	}
	for _, x := range t.Shares {
		shares = append(shares, float64(x*(1-t.Missing)))
	}
	others := choices - uint64(len(shares))
	left := max(1-sum(shares), 0)
	if others > 0 && left == 0 {
		left = 0.01
	}
	return newCategories(shares, others, left)
}

// makeTags makes the tags of a group of series, whose numbers begin with first.
func makeTags(g *Group, seed, scale uint64, first, count uint32) []series.Tag {
	n := len(g.Tags)
	numbers := make([][]uint32, n)
	for i := range numbers {
		numbers[i] = make([]uint32, count)
	}
	growing := slices.IndexFunc(g.Tags, func(t Tag) bool { return t.Of == "" && t.Grows })
	var roots []int // without the growing one
	for i := range g.Tags {
		if g.Tags[i].Of == "" && i != growing {
			roots = append(roots, i)
		}
	}
	if n > 0 {
		makeRoots(g, seed, scale, growing, roots, numbers)
	}
	made := make([]bool, n)
	for i := range g.Tags {
		made[i] = g.Tags[i].Of == ""
	}
	for left := n; left > 0; left-- { // tags that depend on one that was made
		for i := range g.Tags {
			of := slices.IndexFunc(g.Tags, func(t Tag) bool { return t.Name == g.Tags[i].Of })
			if made[i] || !made[of] {
				continue
			}
			made[i] = true
			shares, parents := g.Tags[i].categories(g.Tags[i].choices(scale)), g.Tags[of].choices(scale)
			salt := splitmix.Mix(seed + uint64(i)*splitmix.Golden + 7)
			for s, parent := range numbers[of] {
				numbers[i][s] = uint32(shares.category(spreadOut(uint64(parent), parents, salt)))
			}
		}
	}
	var tags []series.Tag
	for i := range g.Tags {
		t := &g.Tags[i]
		if t.Missing > 0 {
			for s := range numbers[i] {
				numbers[i][s]-- // 0 becomes noValue
			}
		}
		tags = append(tags, series.Tag{Key: t.Name, Values: &tagValues{prefix: t.Name + "_", length: t.Length, first: first, number: numbers[i]}})
	}
	return tags
}

// makeRoots chooses the values of the tags that do not depend on others, different ones for each
// series: for each value of the growing tag some combinations of the others.
func makeRoots(g *Group, seed, scale uint64, growing int, roots []int, numbers [][]uint32) {
	count := uint64(len(numbers[growing]))
	of := g.Tags[growing].choices(scale)
	combinations := uint64(1) // of the other tags
	var shares []categories
	for _, i := range roots {
		n := g.Tags[i].choices(scale)
		shares = append(shares, g.Tags[i].categories(n))
		combinations = min(combinations*n, 1<<31)
	}
	// Values with more and with fewer series alternate.
	weight, mean := func(uint64) float64 { return 1 }, 1.0
	if len(g.PerValue) > 1 && g.PerValue.Mean() > 0 {
		mean = g.PerValue.Mean()
		weight = func(v uint64) float64 { return g.PerValue.Value(spreadOut(v, of, seed)) }
	}
	random := splitmix.Stream(splitmix.Mix(seed + 11))
	used := map[uint64]bool{}
	choice := make([]uint64, len(roots))
	at, due := uint64(0), 0.0
	for v := uint64(0); at < count; v++ {
		// The last value takes the remaining series, so that their number is exact. There may be
		// more values than there should be if combinations are few.
		due += float64(count) / float64(of) * weight(v) / mean
		n := uint64(max(math.Round(due-float64(at)), 1))
		if v+1 >= of && len(roots) > 0 {
			n = count - at
		}
		n = min(n, count-at, combinations)
		clear(used)
		for k := range n {
			for try := uint64(0); ; try++ {
				place, size := uint64(0), uint64(1)
				for r := range roots {
					choice[r] = shares[r].category(splitmix.Unit(random.Next()))
					values := uint64(len(shares[r].ends)) + shares[r].rest
					if n == combinations || try > 32 { // all of them, or the next ones in order
						choice[r] = (k + try) / size % values
					}
					place, size = place+choice[r]*size, size*values
				}
				if !used[place] {
					used[place] = true
					break
				}
			}
			numbers[growing][at] = uint32(v)
			for r, i := range roots {
				numbers[i][at] = uint32(choice[r])
			}
			at++
		}
	}
}
