package query

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Check returns an error if the query is invalid for a table: if a value of its shape is
// meaningless, the table lacks a name, or a field used as a number has another type.
func (q *Query) Check(table *series.Table) error {
	if q.Shape == nil {
		return errors.New("it has no shape")
	}
	if s, ok := q.AsPromQL(); ok {
		return s.check(q, table)
	}
	if err := q.checkShape(); err != nil {
		return err
	}
	if q.OfTicks() {
		if err := q.checkTicks(table); err != nil {
			return err
		}
	}
	if err := q.checkNames(table); err != nil {
		return err
	}
	return q.checkNumbers(table)
}

// checkShape returns an error for invalid values of the query's shape.
func (q *Query) checkShape() error {
	const day = 24 * time.Hour
	if a := q.Activity(); a != nil && a.Compare == Equal {
		return a.Compare.checkComputed()
	}
	if a := q.Activity(); a != nil && (a.Width <= 0 || day%a.Width != 0) {
		return fmt.Errorf("%w: buckets of %v, which do not divide a day", ErrUnsupported, a.Width)
	}
	switch s := q.Shape.(type) {
	case Buckets:
		switch {
		case s.Width <= 0:
			return fmt.Errorf("a bucket of %v has no width", s.Width)
		case s.Limit > 0 && s.Order == Unordered:
			return errors.New("it limits buckets that have no order")
		}
		return s.Aggregate.check()
	case Totals:
		if s.GroupBy == "" {
			return errors.New("it wants totals without naming a tag")
		}
		return s.Aggregate.check()
	case AnyRows:
		if s.Limit <= 0 {
			return fmt.Errorf("limit %d is below 1", s.Limit)
		}
	case RowSet:
		if s.Operands < 2 || !slices.Contains(SetOperations(), s.Operation) {
			return fmt.Errorf("its set operation is %q of %d answers", s.Operation, s.Operands)
		}
	case Last:
		if s.By == "" {
			return errors.New("it wants last rows without naming a tag")
		}
		if s.Having != nil {
			return s.Having.check(s.Fields)
		}
	case Means:
		if s.Having != nil {
			return s.Having.check(s.Fields)
		}
	case UnitMeans:
		switch {
		case s.Unit == "":
			return errors.New("it wants means of units without naming a tag")
		case s.Over != "" && !slices.Contains(s.Group, s.Over):
			return fmt.Errorf("it divides by tag %s, but is not grouped by it, so a group may have several values", s.Over)
		}
	}
	return nil
}

func (a Aggregate) check() error {
	if !slices.Contains(Aggregates(), a) {
		return fmt.Errorf("%w: aggregate %q", ErrUnsupported, a)
	}
	return nil
}

// checkComputed returns an error for a comparison that does not apply to computed values.
func (c Comparison) checkComputed() error {
	if c == Equal {
		return fmt.Errorf("%w: a condition that a mean or ratio equals a number, which depends on rounding", ErrUnsupported)
	}
	return nil
}

func (c *Condition) check(fields []string) error {
	if !slices.Contains(fields, c.Field) {
		return fmt.Errorf("its condition is on field %q, which is not in the answer", c.Field)
	}
	return c.Compare.checkComputed()
}

// checkNames returns the errors of the query's names: names that the table does not have, no field,
// a filter without values, a threshold that is not a number.
func (q *Query) checkNames(table *series.Table) error {
	o := q.outline()
	if len(o.fields)+len(o.numbers) == 0 {
		return errors.New("it names no field")
	}
	if f := q.Filter; f != nil && (math.IsNaN(f.Value) || math.IsInf(f.Value, 0)) {
		return fmt.Errorf("the value that %s is compared with is %v, not a number", f.Field, f.Value)
	}
	for _, name := range q.NamedFields() {
		if table.FieldIndex(name) < 0 {
			return fmt.Errorf("table %s has no field %q", q.Table, name)
		}
	}
	keys := slices.Concat(o.keys, o.tags, o.demands, o.further, q.Present)
	if q.In != nil {
		if len(q.In.Values) == 0 {
			return fmt.Errorf("the filter on tag %s has no values", q.In.Key)
		}
		keys = append(keys, q.In.Key)
	}
	for _, key := range keys {
		if table.Tag(key) == nil {
			return fmt.Errorf("table %s has no tag %q", q.Table, key)
		}
	}
	return nil
}

// checkNumbers returns contradictions between the query and the types of the table's fields: all
// types can be returned and counted, but only numbers can be compared, summed, or used for a
// maximum.
func (q *Query) checkNumbers(table *series.Table) error {
	numbers := q.outline().numbers
	if q.Filter != nil {
		numbers = distinct(numbers, q.Filter.Fields())
	}
	for _, name := range numbers {
		if f := table.Fields[table.FieldIndex(name)]; !f.Type.Numeric() {
			return fmt.Errorf("it takes field %s for a number, whose type is %v", name, f.Type)
		}
	}
	return nil
}
