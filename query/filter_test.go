package query

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"

	"github.com/tsmark/tsmark/series"
)

// Comparisons with integers are exact, and those with a bound of the integers' type are equivalent.
func TestComparisonsOfIntegers(t *testing.T) {
	bounds := []float64{0, -0.5, 0.5, 24.5, -7, 1 << 31, 1<<31 - 1, -1 << 31, -1<<31 - 0.5, 1 << 53, 1<<53 + 2, -1 << 53, 1 << 62, 1 << 63, -1 << 63, 1e300, -1e300, 1e-300}
	for _, kind := range []series.Type{series.Int, series.Int32} {
		least, most := kind.Bounds()
		values := []int64{0, 1, -1, -7, -8, 24, 25, least, least + 1, most, most - 1}
		if kind == series.Int {
			values = append(values, 1<<53-1, 1<<53, 1<<53+1, -1<<53-1, 1<<62)
		}
		for _, c := range Comparisons() {
			for _, bound := range bounds {
				for _, v := range values {
					sign := new(big.Float).SetInt64(v).Cmp(big.NewFloat(bound))
					want := [...]bool{Greater: sign > 0, Less: sign < 0, AtLeast: sign >= 0, Equal: sign == 0}[c]
					if got := c.HoldsWhole(v, bound); got != want {
						t.Errorf("%d %v %v is %v", v, c, bound, got)
					}
					whole := func(c Comparison, n int64) bool {
						return [...]bool{Greater: v > n, Less: v < n, AtLeast: v >= n, Equal: v == n}[c]
					}
					other, n := c.Wholes(bound, kind)
					if n < least || n > most || whole(other, n) != want {
						t.Errorf("%d %v %v is %v, unlike %v %d", v, c, bound, want, other, n)
					}
					if other, n = c.WholesNoLeast(bound); n == math.MinInt64 || v != math.MinInt64 && whole(other, n) != want {
						t.Errorf("%d %v %v is %v, unlike %v %d", v, c, bound, want, other, n)
					}
				}
			}
		}
	}
}

func TestStoredFilter(t *testing.T) {
	for _, c := range Comparisons() {
		q := Query{Type: "t", Table: "cpu", Filter: &ValueFilter{Field: "a", And: []string{"b"}, Compare: c, Value: 1.5}, Shape: Rows{Fields: []string{"a"}}}
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		var again Query
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%s: %v is read as %v: %v", text, q.Filter, again.Filter, err)
		}
	}
}

// Whether a mean equals a number depends on rounding.
func TestEqualOfComputed(t *testing.T) {
	table := &series.Table{Name: "t", Tags: []series.Tag{{Key: "host"}}, Fields: []series.Field{{Name: "f", Type: series.Float}}}
	for _, s := range []Shape{
		Means{Group: []string{"host"}, Fields: []string{"f"}, Having: &Condition{Field: "f", Compare: Equal}},
		ActiveHours{Activity{Unit: "host", Width: 3600e9, Field: "f", Compare: Equal}},
	} {
		q := Query{Table: "t", Shape: s}
		if err := q.Check(table); err == nil {
			t.Errorf("%T with = is accepted", s)
		}
	}
}
