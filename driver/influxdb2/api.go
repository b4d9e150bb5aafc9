package influxdb2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/tsmark/tsmark/driver/httpwire"
)

// api runs requests of the HTTP API beside those that write and query, one after the
// other.
type api struct {
	client *httpwire.Client
	mu     sync.Mutex
}

// maxAnswer bounds what is read of an answer of the API.
const maxAnswer = 32 << 20

// errNotFound says that the server does not have what was named.
var errNotFound = errors.New("not found")

// call sends what in is in JSON, unless it is nil, and reads what comes into out,
// unless that is nil.
func (a *api) call(ctx context.Context, method, path string, parameters url.Values, in, out any) error {
	text, err := a.text(ctx, method, path, parameters, in)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not what InfluxDB 2 says: %w", method, path, err)
	}
	return nil
}

func (a *api) text(ctx context.Context, method, path string, parameters url.Values, in any) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := a.client.Patient(ctx)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := a.client.Request(ctx, method, path, parameters, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %w", errNotFound, httpwire.Explained(response, explained))
	case response.StatusCode/100 != 2:
		return nil, httpwire.Explained(response, explained)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, a.client.Ended(ctx, err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d MiB, and was read no further", maxAnswer>>20)
	}
	return text, nil
}

// bucket is a bucket as the API has it.
type bucket struct {
	ID             string          `json:"id,omitempty"`
	OrgID          string          `json:"orgID,omitempty"`
	Name           string          `json:"name,omitempty"`
	Description    string          `json:"description"`
	RetentionRules []retentionRule `json:"retentionRules"`
}

type retentionRule struct {
	Type         string `json:"type"`
	EverySeconds int64  `json:"everySeconds"`
	ShardSeconds int64  `json:"shardGroupDurationSeconds,omitempty"`
}

// rules are those that the options ask for.
func (s *settings) rules() []retentionRule {
	return []retentionRule{{Type: "expire", EverySeconds: int64(s.retention.Seconds()), ShardSeconds: int64(s.shard.Seconds())}}
}

// find returns the bucket of the options; nil: there is none.
func (d *database) find(ctx context.Context) (*bucket, error) {
	var found struct {
		Buckets []bucket `json:"buckets"`
	}
	err := d.api.call(ctx, http.MethodGet, "/api/v2/buckets", url.Values{"org": {d.settings.org}, "name": {d.settings.bucket}}, nil, &found)
	if errors.Is(err, errNotFound) || err == nil && len(found.Buckets) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found.Buckets[0], nil
}

// organisations returns the ids of those that the token shows, by their names.
func (d *database) organisations(ctx context.Context) (map[string]string, error) {
	var found struct {
		Orgs []struct{ ID, Name string } `json:"orgs"`
	}
	if err := d.api.call(ctx, http.MethodGet, "/api/v2/orgs", nil, nil, &found); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, o := range found.Orgs {
		ids[o.Name] = o.ID
	}
	return ids, nil
}
