package owndata

import (
	"errors"
	"fmt"
	"slices"
)

// badRows collects the errors of malformed rows, so that one pass names several.
type badRows struct {
	shown []error // of the first rows, at most maxShownRows, with their places
	count int64
	read  int64 // other rows
	all   bool  // the pass ended since no row could be read
}

const (
	maxShownRows = 10
	// maxBadRows is the number of malformed rows at which a pass ends: settings, rather than rows, are
	// wrong then, and the rest of the file would be read in vain.
	maxBadRows = 1000
)

// add adds the error of a row. It reports whether the pass should go on.
func (b *badRows) add(err error) bool {
	if b.count++; len(b.shown) < maxShownRows {
		b.shown = append(b.shown, err)
	}
	if b.count == maxShownRows && b.read == 0 {
		b.shown, b.all = b.shown[:1], true
	}
	return b.count < maxBadRows && !b.all
}

// err returns an error with a line for each row shown, and the number of the others; nil: there are
// no malformed rows. last is the error that ended the pass; nil: it read all rows.
func (b *badRows) err(last error) error {
	if b.count == 0 {
		return last
	}
	lines := slices.Clone(b.shown)
	switch more := b.count - int64(len(lines)); {
	case b.all:
		lines = append(lines, fmt.Errorf("and so are all of the %d rows behind it", more))
	case b.count >= maxBadRows:
		lines = append(lines, fmt.Errorf("and at least %d more rows", more))
	case more > 0:
		lines = append(lines, fmt.Errorf("and %d more %s", more, plural(more, "row")))
	}
	if last != nil {
		lines = append(lines, last)
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return errors.Join(lines...)
}

func plural(n int64, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}
