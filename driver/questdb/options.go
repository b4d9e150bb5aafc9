package questdb

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
)

// settings is what the options amount to.
type settings struct {
	host, port, pgPort, ilpPort string
	user, password, token       string // of HTTP
	pgUser, pgPassword          string
	tls                         *tls.Config // nil: not encrypted
	timeout                     time.Duration
	tcp, rest                   bool
	tables                      tableSettings
}

// tableSettings is how tables are made.
type tableSettings struct {
	partitionBy    string // as SQL: DAY
	wal            bool
	dedup          string // the option's value
	symbolCapacity int    // 0: the server's
}

// newSettings reads the options, which Resolve has checked one by one, and says
// what does not go together. The environment has the credentials that the
// options do not.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.Of(o)
	s := &settings{
		host: c.Host, port: c.Port, timeout: c.Timeout, pgPort: o[optionPGPort], ilpPort: o[optionILPPort],
		tcp: o[optionProtocol] == protocolTCP, rest: o[optionRead] == readREST,
		tables: *newTableSettings(o),
	}
	if err := s.credentials(o, getenv); err != nil {
		return nil, err
	}
	s.tls = httpwire.TLSMode(c.TLS, s.host)
	return s, s.check()
}

func newTableSettings(o driver.Options) *tableSettings {
	return &tableSettings{
		partitionBy: strings.ToUpper(o[optionPartitionBy]), wal: o.On(optionWAL), dedup: o[optionDedup], symbolCapacity: o.Int(optionSymbolCapacity),
	}
}

// check returns an error for settings that do not go together.
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
	case s.token != "" && s.user != "":
		return errors.New("give either a token or a user with a password")
	}
	return nil
}

// credentials takes them from the options, and what they lack from the
// configuration of QuestDB's own clients.
func (s *settings) credentials(o driver.Options, getenv func(string) string) error {
	s.user, s.password, s.token = o[connection.User], o[connection.Password], o[optionToken]
	if conf := getenv(configVariable); conf != "" && s.user == "" && s.password == "" && s.token == "" {
		_, list, ok := strings.Cut(conf, "::")
		if !ok {
			return fmt.Errorf("the environment's %s is not as QuestDB's clients have it, such as http::addr=localhost:9000;username=admin;password=…;", configVariable)
		}
		for pair := range strings.SplitSeq(list, ";") {
			switch name, value, _ := strings.Cut(pair, "="); name {
			case "username":
				s.user = value
			case "password":
				s.password = value
			case "token":
				s.token = value
			}
		}
	}
	if s.password != "" && s.user == "" {
		return errors.New("a password was given without a user: give the option user as well")
	}
	s.pgUser = cmp.Or(o[optionPGUser], s.user, "admin")
	s.pgPassword = cmp.Or(o[optionPGPassword], s.password, "quest")
	return nil
}

// address returns the host with the port.
func (s *settings) address(port string) string { return net.JoinHostPort(s.host, port) }
