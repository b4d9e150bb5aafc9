package thanos

import (
	"context"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
)

// answer answers requests of paths.
func answer(paths map[string]string) func(context.Context, string) ([]byte, error) {
	return func(_ context.Context, path string) ([]byte, error) { return []byte(paths[path]), nil }
}

const (
	build  = `{"status":"success","data":{"version":"0.42.5","goVersion":"go1.26.10"}}`
	set    = `{"status":"success","data":{"query.enforce-tenancy":"true","query.replica-label":"receive,tenant_id","query.lookback-delta":"5m"}}`
	stores = `{"status":"success","data":{"receive":[{"name":"127.0.0.1:1","labelSets":[{"receive":"tsmark","tenant_id":"a"}]}]}}`
)

// A querier is refused that mixes tenants, has no receiver, or shows labels that rows do not have.
func TestGreet(t *testing.T) {
	for _, c := range []struct{ flags, stores, says string }{
		{set, stores, ""},
		{strings.Replace(set, "true", "false", 1), stores, "start the querier with --query.enforce-tenancy"},
		{strings.Replace(set, "receive,", "", 1), stores, "the label receive, which the receiver adds: start the querier with --query.replica-label=receive"},
		{strings.Replace(set, ",tenant_id", "", 1), stores, "--query.replica-label=tenant_id"},
		{set, `{"status":"success","data":{}}`, "the querier knows no receiver"},
	} {
		found, err := greet(t.Context(), answer(map[string]string{"/api/v1/status/buildinfo": build, "/api/v1/status/flags": c.flags, "/api/v1/stores": c.stores}))
		if c.says != "" {
			stub.Says(t, err, c.says)
		} else if err != nil || found.Version != "0.42.5" || found.Parameters.Get("partial_response") != "false" {
			t.Errorf("%+v, %v", found, err)
		}
	}
}
