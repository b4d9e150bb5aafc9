package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// Held is how a system holds the values of a type.
type Held struct {
	As string // the system's own type, as its users write it: BIGINT
	// Mapped is what a value becomes where the system has no such type, in
	// words: 0 or 1. Empty: the type is the system's own.
	Mapped string
}

// String is the type, and what the values become in it.
func (h Held) String() string {
	if h.Mapped == "" {
		return h.As
	}
	return h.As + ", " + h.Mapped
}

// Mapped says, in the order of series.Types, which types that a schema's fields
// have are none of the system's own, and what their values become; empty: all are.
func (k *Driver) Mapped(s *series.Schema, o Options) string {
	if k.Types == nil || s == nil {
		return ""
	}
	held := k.Types(o)
	var parts []string
	for _, kind := range series.Types() {
		has := slices.ContainsFunc(s.Tables, func(t *series.Table) bool {
			return slices.ContainsFunc(t.Fields, func(f series.Field) bool { return f.Type == kind })
		})
		if h := held[kind]; has && h.Mapped != "" {
			parts = append(parts, fmt.Sprintf("%v as %s", kind, h))
		}
	}
	return strings.Join(parts, "; ")
}
