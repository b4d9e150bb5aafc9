package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// For every error, the output on standard error has each statement once.
func TestErrorsAreSaidOnce(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"bad.yaml": "bad: [\n", "keys.yaml": "name: x\nfoo: 1\ntargets: 3\n", "own.csv": "a,b\n1,2\n", "garbage.lp": "\x00\x01garbage",
		"queries.yaml": "- name: a\n  text: selct 1\n", "two.yaml": "targets:\n- name: a\n  driver: postgres\n  options: {host: 127.0.0.1, port: \"1\"}\n- name: b\n  driver: postgres\n  options: {host: 127.0.0.1, port: \"2\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const broken = "the server closed the connection while it answered the query"
	drivers := append(all.Drivers(), lying("gives-up"), lying("drops-rows"))
	drivers = append(drivers,
		breaking("breaks", 3, errors.New(broken), false), breaking("gone", 3, errors.New(broken+": "+driver.ErrUnreachable.Error()), true))
	for line := range strings.Lines(`nope
run --nope
run nothere.yaml
run bad.yaml
run keys.yaml
run two.yaml
run two.yaml --sweep load.workers=1,2
run --target nope
run --target postgres,nope=1
run --target postgres,port=0
run --target =,
run --target duckdb --target duckdb
run --target sqlite,path=/nonexistent/x.db
run --target a=postgres,host=127.0.0.1,port=1 --target b=questdb,host=127.0.0.1,port=1 --target c=clickhouse,host=127.0.0.1,port=1
run --target mysql,host=127.0.0.1,port=1
run --target influxdb,host=127.0.0.1,port=1
run --target iotdb,host=127.0.0.1,port=1
run --target cassandra,host=127.0.0.1,port=1
run --target tdengine,host=127.0.0.1,port=1
run --target prometheus,host=127.0.0.1,port=1
run --target griddb,host=127.0.0.1,port=1
run --target kairosdb,host=127.0.0.1,port=1
run --target opentsdb,host=127.0.0.1,port=1
run --target victoriametrics,host=127.0.0.1,port=1
run --target postgres,host=nothere.invalid
run --target influxdb,host=nothere.invalid
run --target memory --query-type nope
run --scale abc
run --rate nope
run --find-max-rate nope
run --sweep x=y
run --own-queries queries.yaml
run --own-queries own.csv
run --iotdb-config own.csv
run --results postgres://u@127.0.0.1:1/db
run --results postgres://u@nothere.invalid/db
run --results mysql://u@h/db
runs --results postgres://u@127.0.0.1:1/db
run --results own.csv
report nope
compare nope nope
resume nope
rerun nope
export nope
import own.csv
import nothere
site nothere
analyze nothere
merge a b
inspect own.csv
inspect garbage.lp
inspect nothere
load sqlite --file garbage.lp
load sqlite --file nothere
load sqlite,path=own.csv
query sqlite,path=nothere.db
query postgres,host=127.0.0.1,port=1
verify postgres,host=127.0.0.1,port=1
check postgres,host=127.0.0.1,port=1
check sqlite,path=/nonexistent/x.db
generate --format nope
generate --format influx --file /nonexistent/x
queries --format nope
server start nope
reproduce nope
agent --join tls://127.0.0.1:1 --token @nothere
load timescaledb --pass=x
load gives-up --scale 40 --log-interval 10m --batch-size 500
run --target gives-up --scale 40 --log-interval 10m --batch-size 500
run --target drops-rows --scale 40 --log-interval 10m --batch-size 500 --query-type lastpoint --queries 4 --verify 3
run --target breaks --scale 10 --log-interval 10m --query-type lastpoint --queries 9 --verify 3
run --target gone --scale 10 --log-interval 10m --query-type lastpoint --queries 9 --verify 3
`) {
		args := append([]string{"tsmark"}, strings.Fields(line)...)
		var stdout, stderr bytes.Buffer
		if code := execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), drivers)); code == app.ExitDone {
			t.Errorf("%s: exit status 0\n%s%s", line, &stdout, &stderr)
		}
		said := figures.ReplaceAllString(stderr.String(), "")
		lines := []string{said}
		if several.MatchString(line) {
			lines = strings.Split(strings.TrimSpace(said), "\n")
		}
		for _, text := range lines {
			if twice := repeatedWords(text); twice != "" || text == "" {
				t.Errorf("%ssays %q twice:\n%s", line, twice, &stderr)
			}
		}
	}
}

// several matches command lines with several errors, reported on a line each; figures matches lines about successes.
var (
	several = regexp.MustCompile(`two.yaml|--target a=.* --target b=|--iotdb-config`)
	figures = regexp.MustCompile(`(?m)^(?:point |load|computing|count|calibrating|query|compare|breaks|gone).*(?:=.*|/s|verified|as expected|at most)\n`)
)

// repeatedWords returns words that a text has twice, four of them or more, or "".
func repeatedWords(text string) string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = strings.Trim(words[i], ".,;:()[]\"'")
	}
	seen := make(map[string]int)
	for i := range max(0, len(words)-3) {
		run := strings.Join(words[i:i+4], " ")
		if at, ok := seen[run]; ok && i >= at+4 {
			return run
		} else if !ok {
			seen[run] = i
		}
	}
	return ""
}

func TestRepeated(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a b c d": "", "target x failed: connection refused; is it up?": "",
		"tsmark: a: dial tcp: connection refused: b: (dial tcp: connection refused)": "dial tcp connection refused",
		"Error: no such file x\ntsmark: no such file x":                              "no such file x",
	} {
		if got := repeatedWords(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
