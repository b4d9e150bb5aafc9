package sql

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// check returns an error for a query that has no meaning, so that writing it
// cannot fail.
func (r *renderer) check() error {
	q := r.q
	if err := q.Check(); err != nil {
		return err
	}
	if err := q.CheckNames(r.table); err != nil {
		return err
	}
	if err := r.CheckNames(r.table); err != nil {
		return err
	}
	if in := q.In; in != nil {
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
	}
	if err := q.CheckFields(r.table); err != nil {
		return err
	}
	switch q.Shape {
	case query.Buckets, query.Totals:
		if !slices.Contains(query.Aggregates(), q.Aggregate) {
			return fmt.Errorf("%w: aggregate %q", query.ErrUnsupported, q.Aggregate)
		}
		if q.Shape == query.Totals {
			return nil
		}
		if q.Bucket <= 0 {
			return fmt.Errorf("a bucket of %v has no width", q.Bucket)
		}
		if q.Bucket%r.Precision != 0 {
			return fmt.Errorf("%w: %s cannot have buckets of %v, its times are multiples of %v",
				query.ErrUnsupported, r.Name, q.Bucket, r.Precision)
		}
	case query.Rows:
		if q.Set != nil && q.Set.All && q.Set.Operation != query.Union && r.NoSetAll {
			return fmt.Errorf("%w: %s has no %s ALL", query.ErrUnsupported, r.Name, strings.ToUpper(string(q.Set.Operation)))
		}
	case query.Means:
	case query.Activity:
		const day = 24 * time.Hour
		if q.Bucket <= 0 || day%q.Bucket != 0 || q.Bucket%r.Precision != 0 {
			return fmt.Errorf("%w: buckets of %v, which do not divide a day into steps of %s", query.ErrUnsupported, q.Bucket, r.Name)
		}
	case query.Last:
		if q.GroupBy == "" {
			return errors.New("it asks for last rows without naming a tag")
		}
		if q.Order != query.Unordered || q.Limit != 0 {
			return fmt.Errorf("%w: last rows in an order or with a limit", query.ErrUnsupported)
		}
	default:
		return fmt.Errorf("%w: shape %q", query.ErrUnsupported, q.Shape)
	}
	return nil
}
