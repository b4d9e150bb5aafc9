package clickhouse

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// adopts implements driver.Driver.
func adopts(s *series.Schema, o driver.Options) error {
	if o[optionLayout] != layoutTSBS {
		return fmt.Errorf("TSBS's tables have its own layout; give %s=%s", optionLayout, layoutTSBS)
	}
	return sqlkit.OneTagsTable(s)
}
