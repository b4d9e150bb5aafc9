//go:build light

package owndata

import (
	"errors"

	"github.com/tsmark/tsmark/workload/file/input"
)

// errLight is the error for Parquet and Arrow in this build.
var errLight = errors.New("this tsmark was built with -tags light, without Parquet and Arrow; build it again without that tag, or convert the files to CSV")

// checkFormat returns an error for a format that this build of tsmark cannot read.
func checkFormat(format string) error {
	if format == input.FormatParquet || format == input.FormatArrow {
		return errLight
	}
	return nil
}

func openRecords(input.File, *layout, *input.Table) (*opened, error) { return nil, errLight }

func recordColumns(input.File, string) ([]string, error) { return nil, errLight }

func (p *profiler) records(input.File, *profile) error { return errLight }

// group is 0: no format of this build has row groups.
func (o *opened) group() int { return 0 }

func (o *opened) restrict(func(group int) bool) {}
