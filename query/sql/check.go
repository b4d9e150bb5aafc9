package sql

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// check returns an error for a query that has no meaning, or that SQL or the
// database cannot say, so that writing it cannot fail.
func (r *renderer) check() error {
	q := r.q
	if err := q.Check(r.table); err != nil {
		return err
	}
	if err := r.CheckNames(r.table); err != nil {
		return err
	}
	if err := r.checkFilter(); err != nil {
		return err
	}
	switch s := q.Shape.(type) {
	case query.Buckets:
		return r.checkWidth(s.Width)
	case query.RowSet:
		if r.NoSets {
			return fmt.Errorf("%w: %s has no set operations", query.ErrUnsupported, r.Name)
		}
		if s.All && s.Operation != query.Union && r.NoSetAll {
			return fmt.Errorf("%w: %s has no %s ALL", query.ErrUnsupported, r.Name, strings.ToUpper(string(s.Operation)))
		}
	case query.PromQL:
		return r.checkOver(s.Over)
	case query.Sessions, query.Starts:
		if r.NoWith {
			return fmt.Errorf("%w: %s has no window functions, which look from a bucket to the one before it", query.ErrUnsupported, r.Name)
		}
	}
	if a := q.Activity(); a != nil {
		return r.checkWidth(a.Width)
	}
	return nil
}

// checkFilter returns an error for values of a filter that are not literals.
func (r *renderer) checkFilter() error {
	in := r.q.In
	if in == nil {
		return nil
	}
	for _, v := range in.Values {
		if err := r.CheckText(v); err != nil {
			return fmt.Errorf("the filter on tag %s: %w", in.Key, err)
		}
		if !r.table.Tag(in.Key).Numeric() {
			continue
		}
		if n, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
		}
	}
	return nil
}

func (r *renderer) checkWidth(width time.Duration) error {
	switch {
	case width%r.Precision != 0:
		return fmt.Errorf("%w: %s cannot have buckets of %v, its times are multiples of %v",
			query.ErrUnsupported, r.Name, width, r.Precision)
	case r.Widths > 0 && width%r.Widths != 0:
		return fmt.Errorf("%w: %s cannot have buckets of %v, its buckets are multiples of %v",
			query.ErrUnsupported, r.Name, width, r.Widths)
	}
	return nil
}
