package postgres

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// adopts implements driver.Driver. TSBS's loader for TimescaleDB, which fills plain tables too, stores
// all fields as doubles.
func adopts(s *series.Schema, o driver.Options) error {
	switch {
	case o[optionLayout] != layoutNormalized:
		return fmt.Errorf("TSBS's tables refer to a table of series; give %s=%s", optionLayout, layoutNormalized)
	case o[optionIntegers] != integersDouble:
		return fmt.Errorf("TSBS's fields are doubles; give %s=%s", optionIntegers, integersDouble)
	}
	return sqlkit.OneTagsTable(s)
}
