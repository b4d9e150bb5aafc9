package mysql

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/query"
)

// The types, by the library's names, whose values cannot be identified by their Go type.
const (
	typeDate    = "DATE"
	typeDecimal = "DECIMAL"
)

// decode converts a value of a column's type to dst, whose text refers to the library's memory.
func decode(v any, kind string, dst *query.Value) (err error) {
	switch v := v.(type) {
	case nil:
		*dst = query.Value{}
	case int64:
		*dst = query.Value{Kind: query.Int, Int: v}
	case float64:
		*dst = query.Value{Kind: query.Float, Float: v}
	case float32:
		*dst = query.Value{Kind: query.Float, Float: float64(v)}
	case time.Time:
		if years := v.Year(); years < 1678 || years > 2261 {
			return errors.New("the time is not between the years 1678 and 2261")
		}
		if *dst = (query.Value{Kind: query.Time, Int: v.UnixNano()}); kind == typeDate {
			*dst = query.Value{Kind: query.Date, Int: query.BucketOf(v.UnixNano(), 24*time.Hour) / int64(24*time.Hour)}
		}
	case []byte:
		if *dst = (query.Value{Kind: query.Text, Text: v}); kind == typeDecimal {
			*dst = query.Value{Kind: query.Float}
			dst.Float, err = strconv.ParseFloat(view(v), 64)
		}
	default:
		return fmt.Errorf("tsmark does not read values of type %s; cast it to BIGINT, DOUBLE, DATETIME or CHAR", kind)
	}
	return err
}

// view returns bytes as a string without copying; the string must not outlive them.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
