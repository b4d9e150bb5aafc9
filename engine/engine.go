// Package engine loads datasets into targets and runs queries with a number of workers, and
// measures both.
package engine

// Progress is called with the rows or queries done since its last call, from
// several goroutines.
type Progress func(n int)
