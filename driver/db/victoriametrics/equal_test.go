package victoriametrics

import (
	"errors"
	"testing"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Floats are stored with fewer digits than a constant may have; integers are stored exactly.
func TestEqual(t *testing.T) {
	table := &series.Table{Fields: []series.Field{{Name: "i", Type: series.Int}, {Name: "f", Type: series.Float32}}}
	single := float64(float32(12.34))
	for _, c := range []struct {
		filter      query.ValueFilter
		unsupported bool
	}{
		{query.ValueFilter{Field: "f", Compare: query.Equal, Value: single}, true},
		{query.ValueFilter{Field: "i", And: []string{"f"}, Compare: query.Equal, Value: single}, true},
		{query.ValueFilter{Field: "f", Compare: query.Equal, Value: 12.34}, false},
		{query.ValueFilter{Field: "f", Compare: query.Less, Value: single}, false},
		{query.ValueFilter{Field: "i", Compare: query.Equal, Value: 1<<53 - 1}, false},
	} {
		if err := checkEqual(&c.filter, table); errors.Is(err, query.ErrUnsupported) != c.unsupported {
			t.Errorf("%+v: %v", c.filter, err)
		}
	}
}
