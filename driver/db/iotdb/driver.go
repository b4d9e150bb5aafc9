// Package iotdb is the driver for Apache IoTDB. It uses the Thrift service, as generated for IoTDB's Go
// client. Rows are sent as tablets, encoded directly from batches and sorted by device and time;
// results are decoded block by block.
//
// In the tree model, a series of a table is the device root.<database>.<table>.<value of each tag>. Its
// fields and its numeric tags are measurements. In the table model, a series is a set of rows in a
// table. The additional table tsmark_mark records the loaded dataset and the objects that tsmark
// created.
package iotdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionModel       = "model"
	optionSchema      = "schema"
	optionAligned     = "aligned"
	optionPrecision   = "precision"
	optionCompression = "compression"
	optionFetchSize   = "fetch_size"
	optionQuiet       = "quiet"
)

// The values of optionSchema.
const (
	schemaAuto     = "auto"
	schemaTemplate = "template"
)

// units are the values of optionPrecision.
var units = map[string]time.Duration{"ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}

// Driver describes IoTDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "iotdb",
		Help: "Apache IoTDB 2, tree or table model, written by tablets",
		Options: connection.Options(
			option.Option{Name: connection.Port, Default: "6667"},
			option.Option{Name: connection.Database, Default: "tsmark",
				Help: "database (root.<database> in the tree model), created if it does not exist; tsmark drops it before another load if tsmark filled it"},
			option.Option{Name: connection.User, Default: "root"},
			option.Option{Name: connection.Password, Default: "root"},
			option.Option{Name: optionModel, Layout: true, Default: modelTree, Type: option.Choice(modelTree, modelTable),
				Help: "tree: a series is a device, with a path of its tags; table: tags are columns of a table"},
			option.Option{Name: optionSchema, Layout: true, Default: schemaAuto, Type: option.Choice(schemaAuto, schemaTemplate),
				Help: "tree model: auto (rows create the measurements of a device) or template (a device template for each table)"},
			option.Option{Name: optionAligned, Layout: true, Default: "true", Type: option.Choice("true", "false"),
				Help: "tree model: store the times of a device once for all its measurements"},
			option.Option{Name: optionPrecision, Layout: true, Default: "ms", Type: option.Choice("ms", "us", "ns"),
				Help: "timestamp_precision of the server, fixed at its first start"},
			option.Option{Name: optionCompression, Layout: true, Type: option.Choice("uncompressed", "snappy", "gzip", "lz4", "zstd", "lzma2").OrWord(""), Empty: "the server's",
				Help: "tree model: compression of all measurements, which writers then create before a device's first rows"},
			option.Option{Name: optionFetchSize, Default: "10000", Type: option.Integer(1, 1_000_000), Help: "rows of an answer in each page"},
			option.Option{Name: optionQuiet, Default: "3s", Type: option.Seconds(time.Second).OrWord("0s"),
				Help: "how long the sizes of the data regions must be stable before a load has settled; 0s: do not wait for compactions"},
		),
		Profiles:     []driver.Profile{{Name: "default", Help: "aligned devices, as the server is configured", Options: driver.Options{}}},
		Durabilities: []driver.Profile{{Name: driver.AsShipped, Help: "wal_mode of the server, ASYNC by default; a client cannot change it", Options: driver.Options{}}},
		IoTDBBenchmark: driver.Tool{
			Databases: []string{"IoTDB-"}, // for each version and each of its interfaces
			Options:   map[string]string{"IoTDB_DIALECT_MODE": optionModel, "VECTOR": optionAligned, "TEMPLATE": optionSchema, "TIMESTAMP_PRECISION": optionPrecision},
		},
		Caps:    caps,
		Modules: []string{"github.com/apache/iotdb-client-go/v2", "github.com/apache/thrift"},
		Place: func(o driver.Options) string {
			listed, _ := newModel(o).names()
			return fmt.Sprintf("database %s of IoTDB at %s", listed, driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Tested:     []driver.Tested{{Version: "2.0.1-beta"}},
		TestServer: driver.Options{},
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			return newModel(o).render(q, s)
		},
		RenderFrom: renderFrom,
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening IoTDB: %w", err)
			}
			return d.db(), nil
		},
	}
}

func caps(o driver.Options) driver.Caps {
	unit := units[o[optionPrecision]]
	return driver.Caps{
		Language:      "IoTDB SQL",
		Dedupes:       true,
		TimePrecision: unit,
		Lacks: map[series.Trait]string{
			series.NaN:         "IoTDB's default encoding GORILLA takes for the end of a column",
			series.SmallestInt: "IoTDB's encodings take for the end of a column",
		},
		Schema:  func(s *series.Schema) error { return check(o, s) },
		Types:   types(o),
		Steps:   []driver.Step{},
		Changes: changes(),
	}
}
