package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// Decimals are read as they were written.
func TestAppendNumeric(t *testing.T) {
	m := pgtype.NewMap()
	for _, c := range []struct {
		v        float64
		decimals int
	}{{0, 4}, {0.0001, 4}, {1, 4}, {17.47, 4}, {9999.9999, 4}, {10_000, 4}, {123_456_789.01, 2}, {-3.5, 1}, {0.00001, 5}, {99_999_999_999.9999, 4}} {
		b := appendNumeric(nil, c.v, c.decimals)
		var got float64
		if err := m.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b[4:], &got); err != nil || got != c.v || len(b) != 4+int(b[3]) {
			t.Errorf("%v is read as %v; %v", c.v, got, err)
		}
	}
}
