package influxdb2

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// EffectiveOptions implements driver.DB: the settings of the bucket, which may have existed before.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	if d.Tables() == nil {
		return nil, nil
	}
	b, err := d.find(ctx)
	if err != nil || b == nil || len(b.RetentionRules) == 0 {
		return nil, err
	}
	s, has := d.settings, b.RetentionRules[0]
	list := []driver.EffectiveOption{{Option: optionRetention, Wanted: s.retention.String(), Setting: "the retention of the bucket", Found: seconds(has.EverySeconds)}}
	if s.shard > 0 {
		list = append(list, driver.EffectiveOption{Option: optionShard, Wanted: s.shard.String(), Setting: "the duration of the bucket's groups of shards", Found: seconds(has.ShardSeconds)})
	}
	for i := range list {
		list[i].Remedy = "give another bucket, or delete this one and let tsmark make it"
	}
	return list, nil
}

func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }
