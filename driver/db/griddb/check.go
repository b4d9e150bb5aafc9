package griddb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints: the nodes in the options, and their SQL ports if
// queries use SQL. With a provider, only the provider knows the addresses.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	if o[optionProvider] != "" {
		return nil, nil
	}
	nodes, err := members(o)
	if err != nil {
		return nil, err
	}
	named := connection.Port
	if o[optionMembers] != "" {
		named = optionMembers
	}
	var list []driver.Endpoint
	add := func(protocol, address, option string) *driver.Endpoint {
		s := connection.NewSettings(o)
		s.Host, s.Port, _ = net.SplitHostPort(address) // members has looked at it
		e := s.Endpoint()
		e.Protocol, e.Option = protocol, option
		list = append(list, e)
		return &list[len(list)-1]
	}
	for _, node := range nodes {
		add("NoSQL protocol", node, named)
		if o[optionLanguage] == languageSQL {
			host, _, _ := net.SplitHostPort(node)
			e := add("SQL interface", net.JoinHostPort(host, o[optionSQLPort]), optionSQLPort)
			e.Queries, e.Opened = true, false
		}
	}
	return list, nil
}

// silent says why a node reports nothing beyond rows; nil: its system service may be used.
func (s *system) silent() error {
	if s.url == "" {
		return driver.Unknown("nothing is sent to the node's system service (" + optionSystemPort + "=0), which alone tells it")
	}
	return nil
}

// section returns a section of the system service's response.
func (s *system) section(ctx context.Context, path, name string) (map[string]any, error) {
	if err := s.silent(); err != nil {
		return nil, err
	}
	answer, err := s.get(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("querying GridDB's system service: %w", err)
	}
	of, _ := answer[name].(map[string]any)
	return of, nil
}

// ReadClock implements driver.DB: by the node's system service.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	sent := time.Now()
	of, err := d.system.section(ctx, "/node/stat", "performance")
	answered := time.Now()
	if err != nil {
		return driver.Reading{}, err
	}
	milliseconds, ok := of["currentTime"].(float64)
	if !ok {
		return driver.Reading{}, errors.New("its statistics have no performance.currentTime")
	}
	return driver.Reading{Sent: sent, Received: answered, Server: time.UnixMilli(int64(milliseconds)), Unit: time.Millisecond}, nil
}

// FreeSpace implements driver.DB: dataStore.dbPath, if it is absolute. The node does not report the
// free space.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	of, err := d.system.section(ctx, "/node/config", "dataStore")
	if err != nil {
		return "", -1, err
	}
	folder, _ = of["dbPath"].(string)
	if !path.IsAbs(folder) {
		return "", -1, driver.Unknown(fmt.Sprintf("the node's data is in %q below its GS_HOME, which it does not report", folder))
	}
	return folder, -1, nil
}

// concerns are what distorts the figures of GridDB.
var concerns = []driver.Concern{
	{Setting: "dataStore.storeMemoryLimit", Wrong: driver.Is("1024MB", "1GB"), Effect: "the cache of blocks has the size as shipped, 1 GiB", Fix: "set dataStore.storeMemoryLimit in gs_node.json to about half of the server's memory, or report that it was run as shipped"},
	{Setting: "dataStore.logWriteMode", Wrong: driver.Is("-1"), Effect: "the log is not forced to disk", Fix: "set dataStore.logWriteMode to 1 or 0 in gs_node.json, or compare only with targets of the same durability"},
	{Setting: "dataStore.persistencyMode", Wrong: driver.Is("KEEP_ALL_LOG"), Effect: "no log is ever removed", Fix: "set dataStore.persistencyMode to NORMAL in gs_node.json"},
	{Setting: "cluster.replicationNum", Wrong: driver.IsNot("1", "2"), Effect: "each row may be stored that many times", Fix: "compare only with targets that replicate too"},
	{Setting: "transaction.replicationMode", Wrong: driver.Is("1", "SEMISYNC"), Effect: "updates wait for replicas", Fix: "compare only with targets that replicate too"},
}

// chatty is the trace level from which tracing costs time.
const chatty = "LEVEL_DEBUG"

// Advise implements driver.DB: of the node's settings, by its system service.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	if err := d.system.silent(); err != nil {
		return nil, err
	}
	config, err := d.system.get(ctx, "/node/config")
	if err != nil {
		return nil, fmt.Errorf("querying GridDB's system service: %w", err)
	}
	set := map[string]string{}
	var traced []string
	for section, of := range config {
		values, _ := of.(map[string]any)
		for name, v := range values {
			set[section+"."+name] = fmt.Sprint(v)
			if section == "trace" && v == chatty {
				traced = append(traced, name)
			}
		}
	}
	found := driver.AdviseOn(concerns, set)
	if slices.Sort(traced); traced != nil {
		found = append(found, driver.Advice{
			Setting: "trace (" + strings.Join(traced, ", ") + ")", Value: chatty, Effect: "the node logs all that it does there",
			Fix: "set these levels to LEVEL_ERROR in gs_node.json",
		})
	}
	return found, nil
}
