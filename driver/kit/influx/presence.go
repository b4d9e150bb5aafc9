package influx

import (
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Rows are the rows of a table that a query selects. InfluxDB has values rather than rows: a row whose
// fields in the result are all NULL is known only from another field.
type Rows struct {
	Query *query.Query
	Table *series.Table
}

// Sure reports whether each of the rows has a value of the field.
func (r Rows) Sure(field string) bool {
	if r.Query.Filter != nil && slices.Contains(r.Query.Filter.Fields(), field) {
		return true
	}
	return r.Table.EachRowHas(field)
}

// Witnesses returns fields such that each of the rows has at least one of them. It returns none if each
// row has one of the returned fields anyway.
func (r Rows) Witnesses(returned []string) []string {
	if slices.ContainsFunc(returned, r.Sure) {
		return nil
	}
	if r.Query.Filter != nil {
		return []string{r.Query.Filter.Field}
	}
	keys := r.Query.Demands()
	if r.Query.In != nil {
		keys = append(keys, r.Query.In.Key)
	}
	for _, key := range keys {
		if r.Table.Tag(key).Numeric() {
			return []string{key}
		}
	}
	if r.Table.Dense && r.Table.Narrowest() > 0 {
		return []string{r.Table.Fields[0].Name}
	}
	var names []string
	for i := range r.Table.Tags {
		if tag := &r.Table.Tags[i]; tag.Numeric() && !slices.Contains(returned, tag.Key) {
			names = append(names, tag.Key)
		}
	}
	for _, f := range r.Table.Fields {
		if !slices.Contains(returned, f.Name) {
			names = append(names, f.Name)
		}
	}
	return append(names, NullField)
}
