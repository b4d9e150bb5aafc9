package questdb

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// adopts implements driver.Driver. From the lines that TSBS generates, QuestDB creates tables with the
// same columns as tsmark.
func adopts(s *series.Schema, _ driver.Options) error {
	if at := slices.IndexFunc(s.Tables, differs); at >= 0 {
		return fmt.Errorf("lines do not say all of table %s as QuestDB has it; have tsmark load it", s.Tables[at].Name)
	}
	return lineproto.SaysAll(s)
}
