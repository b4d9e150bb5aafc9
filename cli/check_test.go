package cli

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// emptyQuestDB answers like a QuestDB without tables, and counts all other requests.
func emptyQuestDB(t *testing.T) (target string, others *int) {
	t.Helper()
	others = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch text := r.FormValue("query"); {
		case strings.Contains(text, "build()"):
			fmt.Fprint(w, `{"columns":[{"name":"build","type":"STRING"}],"dataset":[["Build Information: QuestDB 9.3.4, JDK 24"]],"count":1}`)
		case strings.Contains(text, "tables()"):
			fmt.Fprint(w, `{"columns":[{"name":"table_type","type":"CHAR"},{"name":"table_name","type":"STRING"},{"name":"id","type":"INT"}],"dataset":[],"count":0}`)
		case strings.Contains(text, "SHOW PARAMETERS"):
			fmt.Fprint(w, `{"columns":[{"name":"property_path","type":"STRING"},{"name":"value","type":"STRING"}],"dataset":[["cairo.commit.mode","nosync"]],"count":1}`)
		default:
			*others++
			http.Error(w, `{"error":"it takes nothing"}`, http.StatusBadRequest)
		}
	}))
	t.Cleanup(s.Close)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close() // its port is free then
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	_, free, _ := net.SplitHostPort(nobody.Addr().String())
	return fmt.Sprintf("questdb,port=%s,pg_port=%s,timeout=5s", port, free), others
}

// A wrong pg_port is one line that names it: tsmark check finds it, and a run does before
// anything is made or written.
func TestWrongPGPort(t *testing.T) {
	target, others := emptyQuestDB(t)
	catalog := testCatalog(tsbs.Workloads(), []driver.Driver{questdb.Driver()})
	var stdout, stderr bytes.Buffer
	args := []string{"tsmark", "run", "--results", t.TempDir(), "--target", target, "--scale", "10", "--log-interval", "1h"}
	if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != app.ExitTarget {
		t.Errorf("run: exit status %d", code)
	}
	line := ""
	for l := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(l, "tsmark: ") {
			line += l
		}
	}
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, "PostgreSQL protocol at 127.0.0.1:") || !strings.Contains(line, "(option pg_port) cannot be used: ") || *others > 0 {
		t.Errorf("run: %d statements; it says\n%s", *others, stderr.String())
	}
	stdout.Reset()
	if code := execute(t.Context(), []string{"tsmark", "check", target}, &stdout, &stderr, catalog); code != app.ExitWithheld {
		t.Errorf("check: exit status %d", code)
	}
	for _, want := range []string{`(?m)^  ok +HTTP +127\.`, `(?m)^  fails +PostgreSQL protocol +127.* \(option pg_port\)`, `(?m)^  fails +rights +to create tables: .*it takes nothing$`} {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("check does not say %q:\n%s", want, &stdout)
		}
	}
}

// A trial finds targets that lose or change rows, and passes a correct one.
func TestCheckTraps(t *testing.T) {
	for _, kind := range []driver.Driver{lying("empty"), lying("stores-zeroes"), lying("drops-rows"), memory.Driver("memory")} {
		code := app.ExitWithheld
		if kind.Name == "memory" {
			code = app.ExitDone
		}
		var stdout, stderr bytes.Buffer
		catalog := testCatalog(tsbs.Workloads(), []driver.Driver{kind})
		if got := execute(t.Context(), []string{"tsmark", "check", kind.Name}, &stdout, &stderr, catalog); got != code {
			t.Errorf("%s: exit status %d, want %d\n%s%s", kind.Name, got, code, &stdout, &stderr)
		}
	}
}
