package influxdb2

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// bucket is a bucket in the API.
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

// rules returns the retention rules that the options set.
func (s *settings) rules() []retentionRule {
	return []retentionRule{{Type: "expire", EverySeconds: int64(s.retention.Seconds()), ShardSeconds: int64(s.shard.Seconds())}}
}

// find returns the bucket of the options; nil: it does not exist.
func (d *database) find(ctx context.Context) (*bucket, error) {
	var found struct {
		Buckets []bucket `json:"buckets"`
	}
	err := d.api.Call(ctx, http.MethodGet, "/api/v2/buckets", url.Values{"org": {d.settings.org}, "name": {d.settings.bucket}}, nil, &found)
	if errors.Is(err, httpwire.ErrNotFound) || err == nil && len(found.Buckets) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found.Buckets[0], nil
}

// organisations returns the ids of the organisations that the token can see, by name.
func (d *database) organisations(ctx context.Context) (map[string]string, error) {
	var found struct {
		Orgs []struct{ ID, Name string } `json:"orgs"`
	}
	if err := d.api.Call(ctx, http.MethodGet, "/api/v2/orgs", nil, nil, &found); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, o := range found.Orgs {
		ids[o.Name] = o.ID
	}
	return ids, nil
}
