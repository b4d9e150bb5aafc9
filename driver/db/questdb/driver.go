// Package questdb is the driver for QuestDB. It writes rows as line protocol (ILP) over HTTP or TCP,
// encoded directly from batches. It runs queries over the PostgreSQL protocol or over REST.
//
// Each table of the schema becomes one table: the designated timestamp, a SYMBOL for each tag (a DOUBLE
// for a numeric one), and a LONG or DOUBLE for each field. The additional table tsmark_mark records the
// loaded dataset and the objects that tsmark created.
package questdb

import (
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionPGPort      = "pg_port"
	optionILPPort     = "ilp_port"
	optionToken       = "token"
	optionPGUser      = "pg_user"
	optionPGPassword  = "pg_password"
	optionProtocol    = "protocol"
	optionRead        = "read"
	optionPartitionBy = "partition_by"
	optionWAL         = "wal"
	optionDedup       = "dedup"
	optionIndex       = "index"
)

// The values of options.
const (
	protocolHTTP   = "http"
	protocolTCP    = "tcp"
	readPGWire     = "pgwire"
	readREST       = "rest"
	partitionNone  = "none"
	walOn          = "true"
	walOff         = "false"
	dedupOff       = "off"
	dedupAllTags   = "tags"
	configVariable = "QDB_CLIENT_CONF" // of QuestDB's own clients
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "QuestDB explains it as a subquery first, so it can only read; functions that read the server's files still can"

// Driver describes QuestDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "questdb",
		Help:    "QuestDB, written by line protocol over HTTP or TCP and queried over the PostgreSQL protocol or REST",
		Options: append(connectionOptions(), storage()...),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "cairo.commit.mode of the server, nosync by default; a client cannot change it", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/jackc/pgx/v5"},
		// A server is one place: its tables are named after the dataset's.
		Place: func(o driver.Options) string {
			return "QuestDB at " + driver.AddressPlace(o[connection.Host], o[connection.Port])
		},
		Endpoints:  endpoints,
		Adopts:     adopts,
		Tested:     []driver.Tested{{Version: "9.3"}},
		TestServer: driver.Options{},
		IoTDBBenchmark: driver.Tool{Options: map[string]string{ // it writes over the PostgreSQL protocol
			"PORT": optionPGPort, "USERNAME": optionPGUser, "PASSWORD": optionPGPassword,
		}},
		Render:     render,
		Literals:   sqlkit.Literals(newDialect, confinement),
		RenderFrom: renderFrom,
		TSBS:       &driver.TSBS{Format: "questdb", Request: driver.Verbatim},
		Open:       open,
	}
}

func caps(o driver.Options) driver.Caps {
	const null = "QuestDB holds as NULL"
	return driver.Caps{
		Language:      "SQL",
		Dedupes:       o[optionDedup] != dedupOff,
		MakesColumns:  true,
		TimePrecision: precision,
		First:         time.Unix(0, 0),
		Lacks: map[series.Trait]string{
			series.NaN:            null,
			series.Infinities:     null,
			series.SmallestInt:    null,
			series.FineTimestamps: "QuestDB's TIMESTAMP, whose unit is 1 µs, does not hold",
			series.NULTexts:       "QuestDB puts into JSON as they are, where they cannot be read",
		},
		Schema:  newTableSettings(o).check,
		Types:   types(),
		Changes: changes(newTableSettings(o)),
	}
}

// connectionOptions returns the options for connecting to the server.
func connectionOptions() []driver.Option {
	const none = "from " + configVariable + ", or none"
	return append(connection.Options(
		driver.Option{Name: connection.Port, Default: "9000", Help: "port of HTTP (line protocol, REST)"},
		driver.Option{Name: optionPGPort, Type: option.Port(), Default: "8812", Help: "port of the PostgreSQL protocol, with read=pgwire"},
		driver.Option{Name: optionILPPort, Type: option.Port(), Default: "9009", Help: "port of line protocol over TCP, with protocol=tcp"},
		driver.Option{Name: connection.User, Empty: none, Help: "user of HTTP"},
		driver.Option{Name: connection.Password, Empty: none},
		driver.Option{Name: optionToken, Secret: true, Empty: none, Help: "token of HTTP, instead of user and password"},
		driver.Option{Name: optionPGUser, Empty: "the user, or admin", Help: "user of the PostgreSQL protocol"},
		driver.Option{Name: optionPGPassword, Secret: true, Empty: "the password, or quest", Help: "password of the user"},
		driver.Option{Name: connection.TLS, Help: "encrypt HTTP, TCP and, if the server offers it, the PostgreSQL protocol: on (verify the certificate), off, or insecure (do not verify it)"},
	),
		driver.Option{Name: optionProtocol, Default: protocolHTTP, Help: "how rows are sent: http (acknowledged) or tcp (not acknowledged)", Type: option.Choice(protocolHTTP, protocolTCP)},
		driver.Option{Name: optionRead, Default: readPGWire, Help: "how queries are sent: pgwire (PostgreSQL protocol) or rest (HTTP)", Type: option.Choice(readPGWire, readREST)},
	)
}

// storage returns the options for how tables are created.
func storage() []driver.Option {
	return []driver.Option{
		{Name: optionPartitionBy, Layout: true, Default: "day", Help: "time range of a partition; none needs wal=false and rows in the order of time", Type: option.Choice("hour", "day", "week", "month", "year", partitionNone)},
		{Name: optionWAL, Layout: true, Default: walOn, Help: "create tables with a write-ahead log, which protocol=http and dedup need", Type: option.Boolean(walOn, walOff)},
		{Name: optionDedup, Layout: true, Default: dedupOff, Help: "deduplication key beside the time: all tags (tags) or one tag, as in dedup=hostname; or off"},
		{Name: optionIndex, Layout: true, Default: "false", Help: "create tables with an index on each tag", Type: option.Boolean("true", "false")},
	}
}
