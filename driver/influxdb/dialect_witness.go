package influxdb

import "slices"

// sure reports whether every row that the query is about has a value of the
// field.
func (r *renderer) sure(field string) bool {
	if r.q.Above != nil && slices.Contains(r.q.Above.All(), field) {
		return true
	}
	return r.table.Dense && r.table.FieldIndex(field) < r.narrowest()
}

// narrowest returns how many fields the narrowest rows have.
func (r *renderer) narrowest() int {
	if r.table.Widths == nil {
		return len(r.table.Fields)
	}
	return int(slices.Min(r.table.Widths))
}

// witnesses returns fields of which a row that the query is about has at
// least one, where none of the asked ones is sure to be there.
func (r *renderer) witnesses(asked []string) []string {
	if slices.ContainsFunc(asked, r.sure) {
		return nil
	}
	if r.q.Above != nil {
		return []string{r.q.Above.Field}
	}
	keys := r.q.Demands()
	if r.q.In != nil {
		keys = append(keys, r.q.In.Key)
	}
	for _, key := range keys {
		if r.numeric(key) {
			return []string{key}
		}
	}
	if r.table.Dense && r.narrowest() > 0 {
		return []string{r.table.Fields[0].Name}
	}
	var names []string
	for i := range r.table.Tags {
		if tag := &r.table.Tags[i]; tag.Numeric() && !slices.Contains(asked, tag.Key) {
			names = append(names, tag.Key)
		}
	}
	for _, f := range r.table.Fields {
		if !slices.Contains(asked, f.Name) {
			names = append(names, f.Name)
		}
	}
	return append(names, nullField)
}
