package victoriametrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

// The plan is the trace without times, and the profile is what pprof's path returns.
func TestExplain(t *testing.T) {
	d := newDatabase(serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/debug/pprof/profile" && r.FormValue("seconds") == "2":
			stub.Saying(http.StatusOK, "", "a profile")(w, r)
		case r.FormValue("trace") == "1" && r.FormValue("query") == "up":
			stub.Saying(http.StatusOK, "", `{"status":"success","data":{},"trace":{"duration_msec":0.5,"message":"query","children":[{"duration_msec":0.1,"message":"fetch 8 series","children":[{"message":"sort"}]},{"message":"sum"}]}}`)(w, r)
		default:
			stub.Saying(http.StatusNotFound, "", "no")(w, r)
		}
	}))
	db := d.db()
	plan, err := db.Explain(t.Context(), driver.Request{Plan: &metric.Plan{Expression: "up"}})
	if want := "query\n  fetch 8 series\n    sort\n  sum"; plan != want || err != nil {
		t.Errorf("%q, %v; want %q", plan, err, want)
	}
	if plan, err := db.Explain(t.Context(), driver.Request{Text: "/a/path"}); err == nil {
		t.Errorf("a request without a plan: %q", plan)
	}
	profile, err := db.ProfileCPU(t.Context(), 2*time.Second)
	if string(profile) != "a profile" || err != nil {
		t.Errorf("%q, %v", profile, err)
	}
	if profile, err := db.ProfileCPU(t.Context(), time.Second); err == nil {
		t.Errorf("no profile: %q", profile)
	}
}
