//go:build light

package columnar

import (
	"errors"
	"io"
)

var errLight = errors.New("this tsmark was built with -tags light, without Parquet and Arrow; build it again without that tag")

func openParquet(int) func(io.Writer, *table) (file, error) {
	return func(io.Writer, *table) (file, error) { return nil, errLight }
}

func openArrow(int) func(io.Writer, *table) (file, error) { return openParquet(0) }

// Flat is a Parquet file, which this build does not write.
type Flat struct{}

// NewFlat returns an error.
func NewFlat(io.Writer, []FlatColumn) (*Flat, error) { return nil, errLight }

// Add returns an error.
func (*Flat) Add(...any) error { return errLight }

// Close returns an error.
func (*Flat) Close() error { return errLight }
