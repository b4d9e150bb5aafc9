package sqlkit

import (
	"fmt"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// OneTagsTable returns an error if tables of a schema have tags of their own. TSBS's loaders for SQL
// databases have one table of series, and store other tags in a JSON column, which tsmark's queries do
// not read.
func OneTagsTable(s *series.Schema) error {
	for _, t := range s.Tables {
		if sql.TagsTable(s, t) != sql.TagsTable(s, s.Tables[0]) {
			return fmt.Errorf("TSBS's loader puts the tags that table %s has beside those of table %s into a column of JSON, where tsmark does not look; choose cpu-only or iot, or have tsmark load it", t.Name, s.Tables[0].Name)
		}
	}
	return nil
}
