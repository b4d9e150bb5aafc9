package victoriametrics

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/series"
)

// adopts implements driver.Driver. From the lines that TSBS generates, the server makes a metric of a
// numeric tag.
func adopts(s *series.Schema, o driver.Options) error {
	if p := o[metric.OptionProtocol]; p != "" && p != protocolLine {
		return fmt.Errorf("TSBS writes line protocol; leave out %s=%s", metric.OptionProtocol, p)
	}
	if t := numberTagged(s); t != nil {
		return fmt.Errorf("TSBS's lines make metrics of the tags of table %s that are numbers, and tsmark looks for labels; have tsmark load it", t.Name)
	}
	return lineproto.SaysAll(s)
}

// numberTagged returns the first table with a numeric tag; nil: there is no such table.
func numberTagged(s *series.Schema) *series.Table {
	for _, t := range s.Tables {
		for i := range t.Tags {
			if t.Tags[i].Numeric() {
				return t
			}
		}
	}
	return nil
}
