package griddb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// system is a node's system service, which provides over HTTP the data that the NoSQL protocol lacks:
// version, settings and metrics. It is not used by measured operations.
type system struct {
	url            string // empty: nothing is sent to it
	user, password string
}

func newSystem(o driver.Options) *system {
	s := connection.NewSettings(o)
	out := &system{user: s.User, password: s.Password}
	if port := o[optionSystemPort]; port != "0" {
		out.url = "http://" + net.JoinHostPort(s.Host, port)
	}
	return out
}

// patience is how long the system service may take.
const patience = 5 * time.Second

// get requests a resource of the system service.
func (s *system) get(ctx context.Context, path string) (answer map[string]any, err error) {
	if s.url == "" {
		return nil, errors.New("nothing is sent to it")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(s.user, s.password)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s answers with status %d", s.url, path, response.StatusCode)
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer, err
}

// reportedSettings are the node settings in reports, by section.
var reportedSettings = map[string][]string{
	"dataStore":   {"concurrency", "logWriteMode", "persistencyMode", "storeMemoryLimit", "storeBlockSize", "storeCompressionMode", "affinityGroupSize", "partitionNum"},
	"checkpoint":  {"checkpointInterval"},
	"transaction": {"replicationMode"},
	"cluster":     {"replicationNum"},
}

// describe adds the information of the system service. A service that does not answer is not an error,
// unless the context has ended.
func (s *system) describe(ctx context.Context, out *driver.Description) error {
	out.Version = "unknown: nothing was sent to the system service (option " + optionSystemPort + ")"
	out.Durability = "as the node's logWriteMode says, which is not known here: by default the log is forced to disk each second"
	stat, err := s.get(ctx, "/node/stat")
	if err != nil {
		if s.url != "" {
			out.Version = "unknown: the system service does not answer at " + s.url + " (option " + optionSystemPort + ")"
		}
		return cancelCause(ctx)
	}
	if version, ok := stat["version"].(string); ok {
		out.Version, out.Edition, _ = strings.Cut(version, " ")
		out.Edition = strings.ToLower(out.Edition)
	}
	config, err := s.get(ctx, "/node/config")
	if err != nil {
		return cancelCause(ctx)
	}
	for section, names := range reportedSettings {
		of, _ := config[section].(map[string]any)
		for _, name := range names {
			if v, ok := of[name]; ok {
				out.Settings[name] = fmt.Sprint(v)
			}
		}
	}
	switch mode := out.Settings["logWriteMode"]; {
	case out.Settings["persistencyMode"] == "KEEP_ALL_LOG", out.Settings["persistencyMode"] == "NORMAL" && mode == "":
	case mode == "0":
		out.Safety = driver.OnDisk
		out.Durability = "an acknowledged statement is in the log, and forced to disk (logWriteMode=0)"
	case mode == "-1":
		out.Safety = driver.InFiles
		out.Durability = "an acknowledged statement is in the log as the system's file cache has it (logWriteMode=-1)"
	case mode != "":
		out.Safety = driver.InFiles
		out.Durability = fmt.Sprintf("an acknowledged statement is in memory and in the log, which is forced to disk every %s s (logWriteMode=%[1]s)", mode)
	}
	return nil
}

// cancelCause returns why nobody waits any longer; nil: somebody does.
func cancelCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// figures are the sections of a node's statistics with metrics.
var figures = []string{"performance", "checkpoint"}

// metrics returns figures of the node.
func (s *system) metrics(ctx context.Context) (map[string]float64, error) {
	if s.url == "" {
		return nil, nil
	}
	stat, err := s.get(ctx, "/node/stat")
	if err != nil {
		return nil, fmt.Errorf("querying GridDB's system service: %w", err)
	}
	out := map[string]float64{}
	for _, section := range figures {
		of, _ := stat[section].(map[string]any)
		for name, v := range of {
			number, ok := v.(float64)
			if !ok {
				continue
			}
			name = strings.ToLower(section + "_" + name)
			out[name] = number
		}
	}
	return out, nil
}
