package influxdb2

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// reportedSettings are the relevant settings of the server. Only operators may read them.
var reportedSettings = []string{
	"storage-wal-fsync-delay", "storage-cache-max-memory-size", "storage-cache-snapshot-memory-size", "storage-compact-throughput-burst",
	"storage-max-concurrent-compactions", "storage-no-validate-field-size", "storage-series-file-max-concurrent-snapshot-compactions",
	"storage-max-index-log-file-size", "storage-series-id-set-cache-size", "storage-tsm-use-madv-willneed", "storage-wal-max-concurrent-writes",
	"query-concurrency", "query-memory-bytes", "query-initial-memory-bytes", "query-max-memory-bytes", "query-queue-size", "store", "no-tasks",
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Version: d.version, Location: d.Address() + "/" + d.settings.bucket, Settings: map[string]string{}, Elsewhere: "bucket"}
	config, _ := d.config(ctx) // only an operator token may read it
	for _, name := range reportedSettings {
		if v, ok := config[name]; ok {
			out.Settings[name] = v
		}
	}
	b, err := d.find(ctx)
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing InfluxDB 2: %w", err)
	}
	if b != nil && len(b.RetentionRules) > 0 {
		out.Settings["bucket retention seconds"] = fmt.Sprint(b.RetentionRules[0].EverySeconds)
		out.Settings["bucket shard group seconds"] = fmt.Sprint(b.RetentionRules[0].ShardSeconds)
	}
	out.Durability, out.Safety = influx.Durability("storage-wal-fsync-delay", out.Settings["storage-wal-fsync-delay"])
	return out, nil
}
