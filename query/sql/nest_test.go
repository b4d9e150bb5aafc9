package sql

import "testing"

// The subqueries named by WITH are written where they are used, at any depth.
func TestNest(t *testing.T) {
	const (
		nested = "WITH buckets AS (\n  SELECT a\n  FROM rows\n), changes AS (\n  SELECT b\n  FROM buckets\n)\nSELECT c\nFROM changes\nWHERE d"
		want   = "SELECT c\nFROM (\n  SELECT b\n  FROM (\n    SELECT a\n    FROM rows\n  ) AS buckets\n) AS changes\nWHERE d"
		plain  = "SELECT a\nFROM buckets"
	)
	if got := nest(nested); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := nest(plain); got != plain {
		t.Errorf("got\n%s", got)
	}
}
