// Package questdb drives QuestDB, a server. Rows are written as line protocol
// (ILP) over HTTP or TCP, as text made straight from batches; questions are
// asked over the PostgreSQL protocol or over REST.
//
// Each table of the schema becomes one table: the designated timestamp, a
// SYMBOL for each tag (a DOUBLE for a numeric one), a LONG or DOUBLE for each
// field. Beside them stands tsmark_mark, which says what was loaded and what
// tsmark made.
package questdb

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionHost           = "host"
	optionPort           = "port"
	optionPGPort         = "pg_port"
	optionILPPort        = "ilp_port"
	optionUser           = "user"
	optionPassword       = "password"
	optionToken          = "token"
	optionPGUser         = "pg_user"
	optionPGPassword     = "pg_password"
	optionTLS            = "tls"
	optionTimeout        = "timeout"
	optionProtocol       = "protocol"
	optionRead           = "read"
	optionPartitionBy    = "partition_by"
	optionWAL            = "wal"
	optionDedup          = "dedup"
	optionSymbolCapacity = "symbol_capacity"
)

// The values of options.
const (
	protocolHTTP   = "http"
	protocolTCP    = "tcp"
	readPGWire     = "pgwire"
	readREST       = "rest"
	tlsOn          = "on"
	tlsOff         = "off"
	tlsInsecure    = "insecure"
	partitionNone  = "none"
	walOn          = "true"
	walOff         = "false"
	dedupOff       = "off"
	dedupAllTags   = "tags"
	configVariable = "QDB_CLIENT_CONF" // of QuestDB's own clients
)

// Kind describes QuestDB.
func Kind() driver.Driver {
	return driver.Driver{
		Name:    "questdb",
		Help:    "QuestDB, a server, written by line protocol over HTTP or TCP and asked over the PostgreSQL protocol or REST",
		Options: append(connection(), storage()...),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "as the server's cairo.commit.mode says, which is nosync unless somebody changed it; a client cannot", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/jackc/pgx/v5"},
		// A server is one place: its tables have the names of the dataset's.
		Place: func(o driver.Options) string {
			return "QuestDB at " + driver.AddressPlace(o[optionHost], o[optionPort])
		},
		Render: render,
		Open:   open,
	}
}

func caps(o driver.Options) driver.Caps {
	const null = "QuestDB holds as NULL"
	return driver.Caps{
		Language:      "SQL",
		Dedupes:       o[optionDedup] != dedupOff,
		TimePrecision: precision,
		First:         time.Unix(0, 0),
		Lacks: map[series.Trait]string{
			series.NaN:            null,
			series.Infinities:     null,
			series.SmallestInt:    null,
			series.FineTimestamps: "QuestDB's TIMESTAMP, whose unit is 1 µs, does not hold",
		},
		Types: types(),
	}
}

// connection are the options of how the server is reached.
func connection() []driver.Option {
	port := func(name, value, help string) driver.Option {
		return driver.Option{Name: name, Default: value, Help: help, Check: checkPort}
	}
	return []driver.Option{
		{Name: optionHost, Default: "127.0.0.1", Help: "name or address of the server"},
		port(optionPort, "9000", "port of HTTP: line protocol, REST and everything but the other two"),
		port(optionPGPort, "8812", "port of the PostgreSQL protocol, with read=pgwire"),
		port(optionILPPort, "9009", "port of line protocol over TCP, with protocol=tcp"),
		{Name: optionUser, Empty: "that of " + configVariable + ", or none", Help: "user, where HTTP asks for one"},
		{Name: optionPassword, Secret: true, Empty: "that of " + configVariable + ", or none", Help: "its password"},
		{Name: optionToken, Secret: true, Empty: "that of " + configVariable + ", or none", Help: "token of HTTP, in place of user and password"},
		{Name: optionPGUser, Empty: "the user, or admin", Help: "user of the PostgreSQL protocol, where it differs from HTTP's"},
		{Name: optionPGPassword, Secret: true, Empty: "the password, or quest", Help: "its password"},
		{Name: optionTLS, Empty: "off where the server runs on this machine, else on",
			Help: "encrypt HTTP and TCP and, where it offers that, the PostgreSQL protocol: on, off, or insecure (anybody's certificate is taken)", Check: oneOf(tlsOn, tlsOff, tlsInsecure)},
		{Name: optionTimeout, Default: "60s", Help: "longest wait for a connection and for the acknowledgement of a batch", Check: checkTimeout},
		{Name: optionProtocol, Default: protocolHTTP, Help: "how rows are sent: http (acknowledged) or tcp (not acknowledged)", Check: oneOf(protocolHTTP, protocolTCP)},
		{Name: optionRead, Default: readPGWire, Help: "how questions are asked: pgwire or rest", Check: oneOf(readPGWire, readREST)},
	}
}

// storage are the options of how tables are made.
func storage() []driver.Option {
	return []driver.Option{
		{Name: optionPartitionBy, Layout: true, Default: "day", Help: "span of a partition: hour, day, week, month or none (with wal=false; rows must then come in the order of their times)", Check: oneOf("hour", "day", "week", "month", partitionNone)},
		{Name: optionWAL, Layout: true, Default: walOn, Help: "tables with a write-ahead log, which protocol=http and dedup need: true or false", Check: oneOf(walOn, walOff)},
		{Name: optionDedup, Layout: true, Default: dedupOff, Help: "a row that comes again replaces the earlier one of its time and of all its tags (tags) or of the one tag that is named, as in dedup=hostname; or off"},
		{Name: optionSymbolCapacity, Layout: true, Empty: "the server's, which grows by itself", Help: "distinct values that a tag's column is prepared for", Check: driver.AtLeast(1)},
	}
}

func checkPort(v string) error {
	if n, err := strconv.ParseUint(v, 10, 16); err != nil || n == 0 {
		return errors.New("must be a port, from 1 to 65535")
	}
	return nil
}

func checkTimeout(v string) error {
	if d, err := time.ParseDuration(v); err != nil || d <= 0 {
		return errors.New("must be a time longer than nothing, such as 60s")
	}
	return nil
}

// oneOf is a check for one of the words.
func oneOf(words ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		return nil
	}
}
