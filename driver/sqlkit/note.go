package sqlkit

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
)

// NoteTable holds the note, as a text in the column NoteColumn of its only row.
// Its name is tsmark's own in every database.
const (
	NoteTable  = "tsmark_mark"
	NoteColumn = "content"
)

// Distinct returns an error that names what two of the objects would be called,
// or what the note's table is called.
func Distinct(objects []driver.Object) error {
	for i, o := range objects {
		clashes := func(other driver.Object) bool { return o.Clashes(other) }
		if clashes(driver.Object{Name: NoteTable}) || slices.ContainsFunc(objects[:i], clashes) {
			return fmt.Errorf("two tables or indexes would be called %s: rename a table of the workload", o.Name)
		}
	}
	return nil
}

// Names returns the names of objects.
func Names(objects []driver.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name
	}
	return names
}
