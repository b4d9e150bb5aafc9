package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
)

// Get reads a path of the server that answers queries; paths of the API do not have the prefix.
type Get func(ctx context.Context, path string) ([]byte, error)

// Server is what Greet finds out.
type Server struct {
	Version    string
	Parameters url.Values // of all queries, in addition
}

// ReadBuild returns a server's report about its build.
func ReadBuild(ctx context.Context, get Get, path string) (application, version string, err error) {
	var document struct {
		Data struct{ Application, Version string }
	}
	text, err := get(ctx, path)
	if err != nil {
		return "", "", err
	}
	if err := json.Unmarshal(text, &document); err != nil || document.Data.Version == "" {
		return "", "", fmt.Errorf("%w: its build cannot be read: %.100q", promql.ErrNotFound, text)
	}
	return document.Data.Application, document.Data.Version, nil
}

// CheckLookback returns an error if a server's lookback is not that of the answers; empty: unknown.
func CheckLookback(setting string) error {
	if setting == "" || Duration(setting) == query.Lookback {
		return nil
	}
	return fmt.Errorf("it looks back %s for the newest sample, and answers are those for %v: start it with -querier.lookback-delta=%[2]v", setting, query.Lookback)
}

// ReadConfig returns values of a server's configuration, which is YAML at a path, by their names there:
// limits.ingestion_rate. A missing value is left out.
func ReadConfig(ctx context.Context, get Get, path string, names ...string) (map[string]string, error) {
	text, err := get(ctx, path)
	if err != nil {
		return nil, err
	}
	var config any
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("its configuration cannot be read: %w", err)
	}
	out := map[string]string{}
	for _, name := range names {
		value := config
		for part := range strings.SplitSeq(name, ".") {
			members, _ := value.(map[string]any)
			value = members[part]
		}
		if value != nil {
			out[name] = fmt.Sprint(value)
		}
	}
	return out, nil
}

// Duration parses a duration as Prometheus's configuration has it, or as Go does; 0: it is malformed.
func Duration(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return duration(text)
}
