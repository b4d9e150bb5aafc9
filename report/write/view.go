package write

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/internal/suggest"
)

// View is the selected part of a report.
type View string

// The views.
const (
	Everything View = "all"
	// IoTDB is the result matrix and the latency matrix of IoTDB-Benchmark: see
	// package matrix.
	IoTDB View = "iotdb"
)

// Views lists them.
func Views() []string { return []string{string(Everything), string(IoTDB)} }

// ParseView returns the view of that name. Its error offers the closest one.
func ParseView(name string) (View, error) {
	if !slices.Contains(Views(), name) {
		return "", fmt.Errorf("there is no view %q%s", name, suggest.Names(name, Views()))
	}
	return View(name), nil
}
