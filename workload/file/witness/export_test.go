package witness

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// Compare compares the sample's rows of the first file, whose reader takes at most 32 MiB for a batch
// of Arrow, and returns what users read of it. It reads the file to its end, whatever differs. The
// error is one that no user should see.
func Compare(ctx context.Context, d *DuckDB, f *File, s *Sample) (lines []string, err error) {
	c := newComparison(f, "r", s.windowsOf(0))
	r, err := open(f, d)
	if a, ok := r.(arrowReader); ok {
		a.most = 32 << 20
		r = a
	}
	if err == nil {
		err = r.read(ctx, c.columns, []span{{0, 3}}, c.row)
		c.finish()
	}
	lines = slices.Sorted(maps.Keys(c.skipped))
	if c.difference != nil {
		lines = append(lines, c.difference.Error())
	}
	if why := (*unable)(nil); errors.As(err, &why) {
		return append(lines, why.Error()), nil
	}
	return lines, err
}
