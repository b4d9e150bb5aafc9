package cassandra

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The narrow layout is TSBS's for Cassandra (cmd/tsbs_load_cassandra): a table for each type of value,
// whose partitions are named measurement,tag=value,…#field#day, and whose rows have a time and a value.
// TSBS's reader finds partitions by reading all names; tsmark reads the names from the registry, as in
// the wide layout. A row without any value has a value of the field metric.NullField.
const (
	idColumn        = "series_id"
	keyColumn       = "series_key" // in the registry: the name of a partition up to the field
	nanosecondsName = "timestamp_ns"
	valueColumn     = "value"
)

// separator separates the series, the field and the day in the name of a partition.
const separator = '#'

// dayFormat is the format of a day in the name of a partition.
const dayFormat = "2006-01-02"

// valueTable is a table of the values of one type.
type valueTable struct{ name, as string }

// valueTableOf returns the table for values of a type.
func valueTableOf(t series.Type) valueTable {
	switch t {
	case series.Float:
		return valueTable{"series_double", "double"}
	case series.Float32:
		return valueTable{"series_float", "float"}
	case series.Bool:
		return valueTable{"series_boolean", "boolean"}
	case series.Text, series.Blob:
		return valueTable{"series_blob", "blob"}
	}
	return valueTable{"series_bigint", "bigint"}
}

// storedFields returns the fields that are stored for the rows of a table, including metric.NullField if a
// row may have no other field.
func storedFields(t *series.Table) []series.Field {
	fields := slices.Clone(t.Fields)
	if slices.Contains(metric.StoredMetrics(t), metric.NullField) {
		fields = append(fields, series.Field{Name: metric.NullField, Type: series.Int})
	}
	return fields
}

// valueTables returns the tables of values that a schema's fields need.
func valueTables(s *series.Schema) (all []valueTable) {
	for _, t := range s.Tables {
		for _, f := range storedFields(t) {
			if v := valueTableOf(f.Type); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// makeValues returns the statement that creates a table of values.
func (l *layout) makeValues(v valueTable) string {
	return fmt.Sprintf("CREATE TABLE %s (%s text, %s bigint, %s %s, PRIMARY KEY (%[2]s, %[3]s)) WITH %[6]s",
		l.qualify(v.name), idColumn, nanosecondsName, valueColumn, v.as, l.storage())
}

// checkNarrow returns an error for a schema that the names of partitions cannot represent.
func checkNarrow(s *series.Schema) error {
	for _, t := range s.Tables {
		if strings.ContainsAny(t.Name, ",#") {
			return fmt.Errorf("table %q: in the narrow layout a comma or # ends its name: rename it", t.Name)
		}
		for _, f := range t.Fields {
			if strings.ContainsRune(f.Name, separator) || f.Name == metric.NullField {
				return fmt.Errorf("field %q of table %s: the narrow layout cannot have that name: rename it", f.Name, t.Name)
			}
		}
		for _, v := range valueTables(s) {
			if registryName(t) == v.name {
				return fmt.Errorf("table %s would have the registry %s, which is a table of values: rename it", t.Name, v.name)
			}
		}
	}
	return nil
}

// appendKey appends the name of a series. It escapes some characters with a backslash; TSBS's tags do
// not contain these.
func appendKey(dst []byte, t *series.Table, of uint32) []byte {
	dst = append(dst, t.Name...)
	for i := range t.Tags {
		before, ok := len(dst), false
		dst = append(append(append(dst, ','), t.Tags[i].Key...), '=')
		from := len(dst)
		if dst, ok = t.Tags[i].Values.Append(dst, of); !ok {
			dst = dst[:before]
		} else if slices.ContainsFunc(dst[from:], special) {
			value := slices.Clone(dst[from:])
			dst = dst[:from]
			for _, c := range value {
				if special(c) {
					dst = append(dst, '\\')
				}
				dst = append(dst, c)
			}
		}
	}
	return dst
}

func special(c byte) bool { return c == ',' || c == '=' || c == '\\' }

// appendPlace appends the part of a partition's name after the series.
func appendPlace(dst []byte, field string, day int64) []byte {
	dst = append(append(append(dst, separator), field...), separator)
	return time.Unix(0, day).UTC().AppendFormat(dst, dayFormat)
}

// splitPartition splits a partition's name into the series and the field.
func splitPartition(id string) (key, field string, ok bool) {
	end := strings.LastIndexByte(id, separator)
	if end < 0 {
		return "", "", false
	}
	at := strings.LastIndexByte(id[:end], separator)
	if at < 0 {
		return "", "", false
	}
	return id[:at], id[at+1 : end], true
}

// narrowPlan says which values form a row of a request in the narrow layout, which has a statement for
// each field.
type narrowPlan struct {
	Key    int           `json:"key"`    // index of the name of the series in the registry's row
	Fields []narrowField `json:"fields"` // columns of the result come first
	Shown  int           `json:"shown"`  // number of fields that are columns
	// Filter is the constant of the query's value filter; nil: none.
	Filter  *float64         `json:"above,omitempty"` // by >, or by Compare
	Compare query.Comparison `json:"compare,omitempty"`
}

// narrowField is a field to read.
type narrowField struct {
	Name   string      `json:"name"`
	Type   series.Type `json:"type,omitempty"`
	Filter bool        `json:"above,omitempty"` // it is compared with narrowPlan.Filter
}

// narrow renders the statements for the partitions of a series and day: for each field of the query,
// and for fields that mark rows without values of these as present.
func (r *renderer) narrow(fields []string, end string) {
	p := &narrowPlan{Key: r.tag(keyColumn), Shown: len(fields)}
	r.plan.Narrow = p
	read := slices.Clone(fields)
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(read, name) {
				read = append(read, name)
			}
		}
	}
	if filter := r.q.Filter; filter != nil {
		add(filter.Fields()...)
		p.Filter, p.Compare = &filter.Value, filter.Compare
		end = ""
	} else {
		add(metric.Witnesses(r.table, fields)...)
	}
	var lines []string
	for _, name := range read {
		kind := series.Int // the type of metric.NullField
		if i := r.table.FieldIndex(name); i >= 0 {
			kind = r.table.Fields[i].Type
		}
		p.Fields = append(p.Fields, narrowField{Name: name, Type: kind, Filter: r.q.Filter != nil && slices.Contains(r.q.Filter.Fields(), name)})
		where := ""
		if r.plan.Start != nil {
			where += " AND " + nanosecondsName + " >= ?"
		}
		if r.plan.End != nil {
			where += " AND " + nanosecondsName + " < ?"
		}
		lines = append(lines, fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ?%s%s", nanosecondsName, valueColumn, r.qualify(valueTableOf(kind).name), idColumn, where, end))
	}
	r.plan.Partition = strings.Join(lines, "\n")
}

// value converts a value to the type of the field.
func (f *narrowField) value(v query.Value) query.Value {
	if f.Type == series.Date && v.Kind == query.Int {
		v.Kind = query.Date
	}
	return v
}

// keeps reports whether a value fulfils the query's value filter.
func (p *narrowPlan) keeps(v query.Value) bool {
	if v.Kind == query.Int {
		return p.Compare.HoldsWhole(v.Int, *p.Filter)
	}
	number, ok := v.Number()
	return ok && p.Compare.Holds(number, *p.Filter)
}
