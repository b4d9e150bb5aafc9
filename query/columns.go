package query

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// Column is a column of an answer.
type Column struct {
	Name string
	Kind Kind
}

// Check returns what is wrong with a question whatever the table holds: a
// divisor where nothing is divided, or one that a group may have several of; a
// set operation on what is no set of rows; totals of nothing that has a name; a
// limit of rows in an order, which may have equals at its end.
func (q *Query) Check() error {
	switch s := q.Set; {
	case s != nil && (q.Shape != Rows || q.Order != Unordered || q.Limit > 0):
		return errors.New("its set operation takes rows without an order and without a limit")
	case s != nil && (s.Operands < 2 || !slices.Contains(SetOperations(), s.Operation)):
		return fmt.Errorf("its set operation is %q of %d answers", s.Operation, s.Operands)
	case q.Shape == Totals && q.GroupBy == "":
		return errors.New("it asks for totals without naming a tag")
	case q.Shape == Rows && q.Limit > 0 && q.Order != Unordered:
		return errors.New("it limits rows that have an order")
	}
	if q.Over != "" && (q.Shape != Means || q.Unit == "" || !slices.Contains(q.Group, q.Over)) {
		return fmt.Errorf("it divides by tag %s, which takes means of units that are grouped by it", q.Over)
	}
	if h := q.Having; h != nil && h.Over != "" && q.Shape != Last {
		return fmt.Errorf("its condition divides by tag %s, which takes last rows", h.Over)
	}
	return nil
}

// CheckNames returns what a question names that a table does not have, and what
// it leaves out: it asks for no field, its filter has no values, its threshold
// is no number.
func (q *Query) CheckNames(table *series.Table) error {
	fields := slices.Clone(q.Fields)
	if q.Active != nil {
		fields = append(fields, q.Active.Field)
	}
	if q.Having != nil {
		fields = append(fields, q.Having.Field)
	}
	if len(fields) == 0 {
		return errors.New("it asks for no field")
	}
	if q.Above != nil {
		fields = append(fields, q.Above.All()...)
		if math.IsNaN(q.Above.Value) || math.IsInf(q.Above.Value, 0) {
			return fmt.Errorf("the threshold of %s is %v, not a number", q.Above.Field, q.Above.Value)
		}
	}
	for _, name := range fields {
		if table.FieldIndex(name) < 0 {
			return fmt.Errorf("table %s has no field %q", q.Table, name)
		}
	}
	keys := slices.Concat([]string{q.GroupBy, q.Unit, q.Over}, q.Tags, q.Group, q.MeanTags, q.Present)
	if q.In != nil {
		if len(q.In.Values) == 0 {
			return fmt.Errorf("the filter on tag %s has no values", q.In.Key)
		}
		if table.Tag(q.In.Key) == nil { // "" as well
			return fmt.Errorf("table %s has no tag %q", q.Table, q.In.Key)
		}
	}
	for _, key := range keys {
		if key != "" && table.Tag(key) == nil {
			return fmt.Errorf("table %s has no tag %q", q.Table, key)
		}
	}
	return nil
}

// CheckFields returns what in a question contradicts the types of a table's
// fields: all are returned and counted, but only numbers are compared, summed,
// or the largest. Fields that the table does not have are another matter.
func (q *Query) CheckFields(table *series.Table) error {
	var numbers []string
	if q.Shape == Means || (q.Shape == Buckets || q.Shape == Totals) && q.Aggregate != Count {
		numbers = append(numbers, q.Fields...)
	}
	if q.Above != nil {
		numbers = append(numbers, q.Above.All()...)
	}
	if q.Having != nil {
		numbers = append(numbers, q.Having.Field)
	}
	if q.Active != nil {
		numbers = append(numbers, q.Active.Field)
	}
	for _, name := range numbers {
		if f := table.FieldIndex(name); f >= 0 && !table.Fields[f].Type.Numeric() {
			return fmt.Errorf("it takes field %s for a number, whose type is %v", name, table.Fields[f].Type)
		}
	}
	return nil
}

// Keys returns the number of columns, the first ones, that tell the rows of an
// answer apart.
func (q *Query) Keys() int {
	switch {
	case q.Shape == Means:
		return len(q.Group)
	case q.Shape == Totals:
		return 1
	case q.Shape == Activity:
		switch q.Active.Summary {
		case SessionPerDay:
			return 2
		case SharePerDay:
			return 1 + len(q.Group)
		case Starts:
			return len(q.Group)
		}
		return 1
	case q.GroupBy != "":
		return 2
	}
	return 1
}

// Values returns the number of columns of the answer that hold values: those
// that are neither its time nor tags.
func (q *Query) Values() int {
	switch {
	case q.Shape == Means:
		return len(q.Fields) + len(q.MeanTags)
	case q.Shape != Activity:
		return len(q.Fields)
	case q.Active.Summary == UnitsWithMore:
		return 0
	}
	return 1
}

// Columns returns the columns of the answer to q. Of the shapes Buckets, Rows
// and Last these are time, then the tag of GroupBy, then Tags, then the fields
// (named by aggregate and field where they are aggregated, as max_<field>, but
// mean_<field>). Of Totals they are the same without the time. Of Means they
// are the Group tags, then the means; of Activity see its Summary.
func (q *Query) Columns(table *series.Table) []Column {
	tag := func(key string) Column {
		if table.Tag(key).Numeric() {
			return Column{key, Float}
		}
		return Column{key, Text}
	}
	var cols []Column
	switch q.Shape {
	case Means:
		for _, key := range q.Group {
			cols = append(cols, tag(key))
		}
		for _, name := range append(slices.Clone(q.Fields), q.MeanTags...) {
			cols = append(cols, Column{"mean_" + name, Float})
		}
		return cols
	case Activity:
		return q.activityColumns(tag)
	}
	if q.Shape != Totals {
		cols = append(cols, Column{"time", Time})
	}
	if q.GroupBy != "" {
		cols = append(cols, tag(q.GroupBy))
	}
	for _, key := range q.Tags {
		cols = append(cols, tag(key))
	}
	for _, name := range q.Fields {
		kind := KindOf(table.Fields[table.FieldIndex(name)].Type)
		switch {
		case q.Shape != Buckets && q.Shape != Totals:
		case q.Aggregate == Avg:
			name, kind = "mean_"+name, Float
		case q.Aggregate == Sum:
			name, kind = "sum_"+name, Float
		case q.Aggregate == Count:
			name, kind = "count_"+name, Int
		default:
			name = string(q.Aggregate) + "_" + name
		}
		cols = append(cols, Column{name, kind})
	}
	return cols
}

// activityColumns returns the columns of the Activity shape.
func (q *Query) activityColumns(tag func(string) Column) []Column {
	var cols []Column
	for _, key := range q.Group {
		cols = append(cols, tag(key))
	}
	day := Column{"day", Time}
	switch q.Active.Summary {
	case UnitsWithMore:
		return []Column{tag(q.Unit)}
	case HoursPerDay:
		return []Column{tag(q.Unit), {"hours", Float}}
	case SessionPerDay:
		return []Column{day, tag(q.Unit), {"seconds", Float}}
	case SharePerDay:
		return append(append([]Column{day}, cols...), Column{"share", Float})
	}
	return append(cols, Column{"starts", Int})
}
