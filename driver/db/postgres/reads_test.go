package postgres

import (
	"testing"

	"github.com/tsmark/tsmark/driver"
)

// TestExplained checks that the rows of scans are added up over all loops, and that blocks count once,
// at the top of the plan.
func TestExplained(t *testing.T) {
	text := `[{"Plan": {"Node Type": "Aggregate", "Actual Rows": 3, "Actual Loops": 1, "Shared Hit Blocks": 7, "Shared Read Blocks": 2, "Plans": [
		{"Node Type": "Append", "Actual Rows": 40, "Actual Loops": 1, "Shared Hit Blocks": 7, "Shared Read Blocks": 2, "Plans": [
			{"Node Type": "Seq Scan", "Relation Name": "_hyper_1_1_chunk", "Actual Rows": 10, "Rows Removed by Filter": 90, "Actual Loops": 2, "Shared Hit Blocks": 5, "Shared Read Blocks": 0},
			{"Node Type": "Bitmap Heap Scan", "Relation Name": "_hyper_1_2_chunk", "Actual Rows": 20, "Rows Removed by Index Recheck": 5, "Actual Loops": 1, "Plans": [
				{"Node Type": "Bitmap Index Scan", "Index Name": "i", "Actual Rows": 25, "Actual Loops": 1}]}]}]}}]`
	read, err := parseExplain([]byte(text), 8192)
	if want := (driver.Read{Rows: 2*100 + 25, Bytes: 9 * 8192, Hits: 7, Misses: 2}); err != nil || read != want {
		t.Errorf("%+v, error %v; want %+v", read, err, want)
	}
	for _, wrong := range []string{"", "{}", "[]", `[{}, {}]`} {
		if read, err := parseExplain([]byte(wrong), 8192); err == nil {
			t.Errorf("%q is %+v", wrong, read)
		}
	}
}
