//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// MeasureReads implements driver.DB with EXPLAIN ANALYZE: the rows that scans read. DuckDB does not
// report their bytes.
func (d *database) MeasureReads(ctx context.Context, q driver.Request) (driver.Read, bool, error) {
	row, err := sqlkit.QueryRow(ctx, &d.Embedded, "EXPLAIN (ANALYZE, FORMAT JSON) "+q.Text)
	if err != nil {
		return driver.Read{}, false, fmt.Errorf("explaining a query: %w", err)
	}
	var top profile
	if err := json.Unmarshal([]byte(row[len(row)-1].String()), &top); err != nil {
		return driver.Read{}, false, fmt.Errorf("reading what EXPLAIN says: %w", err)
	}
	return driver.Read{Rows: top.rowsScanned(), Bytes: -1}, true, nil
}

// profile is a node of an answer of EXPLAIN ANALYZE.
type profile struct {
	Scanned  int64     `json:"operator_rows_scanned"`
	Children []profile `json:"children"`
}

// rowsScanned is how many rows a node and those below took up from tables.
func (p *profile) rowsScanned() int64 {
	sum := p.Scanned
	for i := range p.Children {
		sum += p.Children[i].rowsScanned()
	}
	return sum
}
