package timescaledb

import (
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/series"
)

// Each release is spoken to in the way that it knows.
func TestReleases(t *testing.T) {
	cpu, untagged := postgres.Table{Name: "order", Rows: true, By: "tags_id"}, postgres.Table{Name: "cpu", Rows: true}
	for _, c := range []struct {
		name string
		got  []string
		want string
	}{
		{"2.12", hypertable(212, cpu, 12*time.Hour, 0), `SELECT create_hypertable('"order"', 'time', chunk_time_interval => INTERVAL '43200 seconds', create_default_indexes => false)`},
		{"2.12 with partitions of series", hypertable(212, cpu, time.Hour, 4),
			`SELECT create_hypertable('"order"', 'time', chunk_time_interval => INTERVAL '3600 seconds', create_default_indexes => false, partitioning_column => 'tags_id', number_partitions => 4)`},
		{"2.13", hypertable(213, cpu, time.Hour, 0), `SELECT create_hypertable('"order"', by_range('time', INTERVAL '3600 seconds'), create_default_indexes => false)`},
		{"2.28 with partitions of series", hypertable(228, cpu, time.Hour, 4),
			`SELECT create_hypertable('"order"', by_range('time', INTERVAL '3600 seconds'), create_default_indexes => false); SELECT add_dimension('"order"', by_hash('tags_id', 4))`},
		{"compression", compression(217, cpu), `ALTER TABLE "order" SET (timescaledb.compress, timescaledb.compress_orderby = 'time DESC', timescaledb.compress_segmentby = 'tags_id'); ` +
			`SELECT compress_chunk(chunk, if_not_compressed => true) FROM show_chunks('"order"') AS chunk`},
		{"without series", compression(217, untagged)[:1], `ALTER TABLE cpu SET (timescaledb.compress, timescaledb.compress_orderby = 'time DESC')`},
		{"columnstore", compression(218, cpu)[:1], `ALTER TABLE "order" SET (timescaledb.enable_columnstore, timescaledb.orderby = 'time DESC', timescaledb.segmentby = 'tags_id')`},
	} {
		if got := strings.Join(c.got, "; "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestBucket(t *testing.T) {
	for width, want := range map[time.Duration]string{
		time.Minute:             "time_bucket('60 seconds', t)",
		24 * time.Hour:          "time_bucket('86400 seconds', t)",
		7 * time.Minute:         "time_bucket('420 seconds', t, TIMESTAMPTZ '1970-01-01 00:00:00+00')",
		7 * 24 * time.Hour:      "time_bucket('604800 seconds', t, TIMESTAMPTZ '1970-01-01 00:00:00+00')",
		1500 * time.Microsecond: "time_bucket('1500 microseconds', t)",
	} {
		if got := bucket(width, "t"); got != want {
			t.Errorf("%v: %s, want %s", width, got, want)
		}
	}
}

// A table without tags, which no partition of series can have, is told before
// anything is made.
func TestTablesWithoutTags(t *testing.T) {
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "cpu", Fields: []series.Field{{Name: "usage", Type: series.Float}}}}}
	for partitions, want := range map[string]string{"0": "", "4": "table cpu has no tag to be partitioned by; give space_partitions=0"} {
		d := Driver()
		options, err := d.Resolve(map[string]string{optionSpace: partitions, "layout": "wide"})
		if err != nil {
			t.Fatal(err)
		}
		caps := d.Caps(options)
		if err := caps.Schema(schema); err != nil && err.Error() != want || err == nil && want != "" {
			t.Errorf("%s=%s: %v, want %s", optionSpace, partitions, err, want)
		}
	}
}
