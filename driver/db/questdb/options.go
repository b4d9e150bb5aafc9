package questdb

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// settings are the parsed options.
type settings struct {
	wire      httpwire.Config     // for HTTP
	pg        connection.Settings // of the PostgreSQL protocol
	ilpPort   string
	tcp, rest bool
	tables    tableSettings
}

// tableSettings are the settings for creating tables.
type tableSettings struct {
	partitionBy string // as SQL: DAY
	wal         bool
	dedup       string // the option's value
	index       bool   // of each symbol
}

// keepIdle limits the time that a connection stays idle. The server closes it after five seconds, and a
// batch sent at that time would be lost.
const keepIdle = 3 * time.Second

// newSettings reads the options, which Resolve has checked one by one, and reports invalid
// combinations. Credentials that the options lack come from the environment.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c, token, err := credentials(o, getenv(configVariable))
	if err != nil {
		return nil, err
	}
	s := &settings{
		pg: c, ilpPort: o[optionILPPort], tcp: o[optionProtocol] == protocolTCP, rest: o[optionRead] == readREST,
		tables: newTableSettings(o),
	}
	if s.wire, err = httpwire.NewConfig(c, token); err != nil {
		return nil, err
	}
	s.wire.Idle = keepIdle
	// QuestDB has one database and ignores its name; its own clients send qdb.
	s.pg.Port, s.pg.Database = o[optionPGPort], "qdb"
	s.pg.User = cmp.Or(o[optionPGUser], c.User, "admin")
	s.pg.Password = cmp.Or(o[optionPGPassword], c.Password, "quest")
	switch encrypted := s.wire.TLS; {
	case encrypted == nil:
		s.pg.TLS = connection.Off
	case !encrypted.InsecureSkipVerify:
		s.pg.TLS = connection.On
	}
	return s, s.check()
}

func newTableSettings(o driver.Options) tableSettings {
	return tableSettings{
		partitionBy: strings.ToUpper(o[optionPartitionBy]), wal: o.Bool(optionWAL), dedup: o[optionDedup], index: o.Bool(optionIndex),
	}
}

// check returns an error for an invalid combination of settings.
func (s *settings) check() error {
	dedup := s.tables.dedup != dedupOff
	switch {
	case s.tables.partitionBy == strings.ToUpper(partitionNone) && s.tables.wal:
		return errors.New("a table without partitions has no write-ahead log: give partition_by=day, or wal=false,protocol=tcp as well")
	case !s.tables.wal && !s.tcp:
		return errors.New("line protocol over HTTP writes to tables with a write-ahead log only: leave out wal=false, or give protocol=tcp as well")
	case !s.tables.wal && dedup:
		return errors.New("only tables with a write-ahead log replace rows that come again: leave out wal=false or dedup")
	case s.tcp && dedup:
		return errors.New("over TCP nobody says which rows arrived, and with dedup counting them does not tell: leave out protocol=tcp or dedup")
	}
	return nil
}

// credentials returns the settings for HTTP. Missing credentials come from the configuration of
// QuestDB's own clients.
func credentials(o driver.Options, conf string) (c connection.Settings, token string, err error) {
	c, token = connection.NewSettings(o), o[optionToken]
	if conf == "" || c.User != "" || c.Password != "" || token != "" {
		return c, token, nil
	}
	_, list, ok := strings.Cut(conf, "::")
	if !ok {
		return c, "", fmt.Errorf("the environment's %s is not as QuestDB's clients have it, such as http::addr=localhost:9000;username=admin;password=…;", configVariable)
	}
	for pair := range strings.SplitSeq(list, ";") {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "username":
			c.User = value
		case "password":
			c.Password = value
		case "token":
			token = value
		}
	}
	return c, token, nil
}
