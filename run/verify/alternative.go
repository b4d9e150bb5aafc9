package verify

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
)

// compareRows compares an answer with the expected one and, if these differ, with the ones that the
// target's semantics document: see driver.Driver. It returns the first difference, empty if one of them
// matches, and why an answer that matches a documented one differs from the expected one.
func compareRows(x *oracle.Expectation, semantics string, columns []query.Column, found *query.Answer) (difference, documented string) {
	// Several answers may share expected rows, whose order Compare changes.
	differs := func(expected *query.Answer) *query.Difference {
		return query.Compare(x.Query, columns, &query.Answer{Rows: slices.Clone(expected.Rows)}, found)
	}
	first := differs(x.Answer)
	if first == nil {
		return "", ""
	}
	difference = first.String()
	for i := range x.Also {
		if also := &x.Also[i]; also.Semantics == semantics {
			d := differs(also.Answer)
			if d == nil {
				return "", also.Reason
			}
			difference += fmt.Sprintf("; it also differs from the answer that %s documents: %s", semantics, d)
		}
	}
	return difference, ""
}

// possibleRows reports whether the expected answer, or one that the semantics document, has this number of rows.
func possibleRows(x *oracle.Expectation, semantics string, rows int64) bool {
	return rows == x.Rows || slices.ContainsFunc(x.Also, func(a oracle.Alternative) bool {
		return a.Semantics == semantics && rows == int64(len(a.Answer.Rows))
	})
}
