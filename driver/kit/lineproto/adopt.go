package lineproto

import (
	"fmt"

	"github.com/tsmark/tsmark/series"
)

// SaysAll returns an error if lines as TSBS's generator writes them, for its own use cases, do not
// contain all of a schema's data: they have only whole numbers and floats.
func SaysAll(s *series.Schema) error {
	for _, t := range s.Tables {
		for _, f := range t.Fields {
			if f.Type != series.Int && f.Type != series.Float {
				return fmt.Errorf("TSBS's lines have no field of type %s, as %s of table %s is; have tsmark load it", f.Type, f.Name, t.Name)
			}
		}
	}
	return nil
}
