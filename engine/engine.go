// Package engine drives targets: it loads datasets and runs queries with a
// number of workers, and measures what that takes.
package engine

// Progress is called with the rows or queries done since its last call, from
// several goroutines.
type Progress func(n int)
