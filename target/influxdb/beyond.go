package influxdb

import "github.com/tsmark/tsmark/query"

// beyond returns an error for what other databases can be asked and this
// dialect does not say.
func beyond(q *query.Query) error {
	switch {
	case q.Set != nil:
		return unsupported("InfluxQL has no set operations")
	case q.Shape == query.Rows && (q.Order != query.Unordered || q.Limit > 0):
		return unsupported("rows in an order or with a limit")
	case q.Above != nil && len(q.Above.And) > 0:
		return unsupported("conditions on several fields")
	case q.Shape == query.Buckets && q.Aggregate != query.Max && q.Aggregate != query.Avg:
		return unsupported("the aggregate %s", q.Aggregate)
	}
	return nil
}
