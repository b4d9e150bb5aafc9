// Package all lists the kinds of database that tsmark knows to drive.
package all

import (
	"fmt"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/duckdb"
	"github.com/tsmark/tsmark/target/null"
	"github.com/tsmark/tsmark/target/sqlite"
)

// Kinds returns every kind, in the order in which users see them.
func Kinds() []target.Kind {
	return []target.Kind{
		duckdb.Kind(),
		sqlite.Kind(),
		null.Kind(),
	}
}

// Find returns the kind with the name. Its error offers the closest names.
func Find(name string) (target.Kind, error) {
	kinds := Kinds()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if k.Name == name {
			return k, nil
		}
		names[i] = k.Name
	}
	return target.Kind{}, fmt.Errorf("there is no target %q%s", name, suggest.Among(name, names))
}
