package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// MeasureReads implements driver.DB with EXPLAIN ANALYZE: the rows that scans read, including rows
// removed by a filter, and the blocks found in memory or read from disk.
func (d *database) MeasureReads(ctx context.Context, q driver.Request) (driver.Read, bool, error) {
	block, err := sqlkit.QueryRow(ctx, d.admin, "SELECT current_setting('block_size')::bigint")
	if err != nil {
		return driver.Read{}, false, fmt.Errorf("reading the size of blocks: %w", err)
	}
	rows, err := sqlkit.QueryRows(ctx, d.admin, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+q.Text)
	if err != nil {
		return driver.Read{}, false, fmt.Errorf("explaining a query: %w", err)
	}
	var text string // PGlite returns it in lines
	for _, row := range rows {
		text += row[0].String()
	}
	read, err := parseExplain([]byte(text), block[0].Int)
	return read, err == nil, err
}

// plan is a node of a result of EXPLAIN. Rows are means over its loops; blocks are those of all loops,
// and of the nodes below.
type plan struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Rechecks float64 `json:"Rows Removed by Index Recheck"`
	Loops    float64 `json:"Actual Loops"`
	Hit      int64   `json:"Shared Hit Blocks"`
	Fetched  int64   `json:"Shared Read Blocks"`
	Plans    []plan  `json:"Plans"`
}

// parseExplain decodes a result of EXPLAIN in JSON.
func parseExplain(text []byte, block int64) (driver.Read, error) {
	var statements []struct{ Plan plan }
	if err := json.Unmarshal(text, &statements); err != nil {
		return driver.Read{}, fmt.Errorf("reading what EXPLAIN says: %w", err)
	}
	if len(statements) != 1 {
		return driver.Read{}, fmt.Errorf("EXPLAIN is about %d statements", len(statements))
	}
	top := &statements[0].Plan
	return driver.Read{Rows: int64(top.rowsScanned()), Bytes: (top.Hit + top.Fetched) * block, Hits: top.Hit, Misses: top.Fetched}, nil
}

// rowsScanned returns the number of rows that the scans below a node read.
func (p *plan) rowsScanned() float64 {
	sum := 0.0
	if p.Relation != "" {
		sum = (p.Rows + p.Removed + p.Rechecks) * p.Loops
	}
	for i := range p.Plans {
		sum += p.Plans[i].rowsScanned()
	}
	return sum
}
