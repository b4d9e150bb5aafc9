package influxdb

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// adopts implements driver.Driver. TSBS sends the lines that it generates to the default retention
// policy.
func adopts(s *series.Schema, o driver.Options) error {
	if o[optionRetention] != "" {
		return fmt.Errorf("TSBS writes to the default retention policy; leave out %s", optionRetention)
	}
	return lineproto.SaysAll(s)
}
