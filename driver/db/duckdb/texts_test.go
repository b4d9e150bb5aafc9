//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"strings"
	"testing"
)

// Texts that act when they are prepared are refused before DuckDB sees them: one of them ended
// the process.
func TestActingFunctions(t *testing.T) {
	for text, refused := range map[string]bool{
		"SELECT * FROM enable_logging(storage='file', storage_path='/nowhere')":  true,
		`SELECT * FROM system.main."Enable_Logging"(storage='file')`:             true,
		"SELECT * FROM enable_logging/**/('QueryLog')":                           true,
		"FROM truncate_duckdb_logs()":                                            true,
		"SELECT * FROM query('SELECT * FROM enable_log' || 'ging()')":            true,
		"SELECT json_execute_serialized_sql(x)":                                  true,
		"SELECT * FROM checkpoint()":                                             true,
		"SELECT write_log('x')":                                                  true,
		"SELECT query_time, logging, checkpoint_count FROM t WHERE log = 'logs'": false,
	} {
		if err := checkFunctions(text); (err != nil) != refused || refused && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
