package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/run"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Flags that make commands of pages small.
const (
	smallData    = " --scale 10 --log-interval 10m"
	smallQueries = " --queries 3 --verify 2 --time-box 20ms"
	once         = " --repeats 1 --load-repeats 1"
	smallRun     = smallData + smallQueries + once
)

// depth is how far a command of a page is executed.
type depth int

const (
	inFull   depth = iota // with flags that make it small; databases of servers are in memory
	asPrint               // with --print: it is read and planned
	planOnly              // in a context that has ended: it is read and planned, and stops there
	parse                 // its flags and arguments are parsed
)

// rules say how the commands of pages run. The first rule whose pattern matches PAGE: ARGUMENTS applies.
// The text is the flags that are added to a command that runs in full; of others, why they do not.
var rules = []struct {
	command string
	depth   depth
	text    string
}{
	{`^[^ ]+: agent `, planOnly, "serves until it is stopped; TestRunWithAgents has agents"},
	{`^[^ ]+: run .*--agents `, asPrint, "waits for other machines; TestRunWithAgents has agents"},
	{`^[^ ]+: expose`, planOnly, "serves until it is stopped; the script expose scrapes it"},
	{`^[^ ]+: bisect .*--build`, parse, "needs a repository and its build"},
	{`^[^ ]+: (history|bisect) .*@`, parse, "installs servers; the scripts history and bisect have targets without"},
	{`^[^ ]+: (compare --history|export --format otava) `, parse, "needs runs of many nights; the scripts compare-history and export-formats have them"},
	{`^[^ ]+: server`, parse, "installs servers; the tests of drivers use them"},
	{`: run [a-z]+@`, parse, "installs servers; the script server-versions has a registry"},
	{`profile=[a-z.]+,host=`, parse, "needs CrateDB; the script profiles has PostgreSQL"},
	{`external,command=`, parse, "needs a driver's program; .ci/run has one"},
	{`--results postgres:`, planOnly, "needs PostgreSQL; TestResultsInPostgres has it"},
	{`^[^ ]+: reproduce .*--sensitivity`, parse, "runs for minutes; the script reproduce has it"},
	{`^[^ ]+: reproduce [^ ]+ --report`, inFull, ""},
	{`^[^ ]+: reproduce [^ ]+`, asPrint, "runs for minutes; the script reproduce-embedded runs one"},
	{`--adopt`, planOnly, "needs data of TSBS's loader; the script adopt has it"},
	{`query-texts[ =]`, asPrint, "texts need the servers themselves; the script query-texts has a stub"},
	{`--self-test`, asPrint, "its exit status depends on the machine"},
	{`--find-max-rate`, asPrint, "takes many trials; the script open-loop has it"},
	{`^[^ ]+: run databases`, asPrint, "starts all servers"},
	{`^docs/metrics.md: run metric`, asPrint, "starts Prometheus and VictoriaMetrics"},
	{`--web=0\.0\.0\.0`, asPrint, "listens on all addresses"},
	{`--iotdb-routine`, asPrint, "has many runs; the script iotdb-routine has a smaller one"},
	{`^docs/performance.md: run `, asPrint, "measures 100,000 rows in IoTDB"},
	{`^docs/life.md: run `, asPrint, "lasts a minute or more; the script life has a shorter one"},
	{`^docs/crashes.md: run `, asPrint, "takes minutes; the script crash has fewer crashes"},
	{`^docs/measuring.md: run block-`, asPrint, "parts of experiments that start servers, sweep, or expect an earlier run"},

	{`^README.md: run$`, inFull, smallData + smallQueries},             // has the comparison that the page shows
	{`^docs/commands.md: run experiment.yaml .*--fail-if`, inFull, ""}, // the experiment of 3f2a
	{`--fail-if .*p99`, inFull, smallData + " --queries 600 --verify 2"},
	{`^[^ ]+: run .*--sweep`, inFull, smallRun + " --target sqlite --query-type lastpoint"},
	{`^[^ ]+: run iotdb`, inFull, smallQueries + once + " --target sqlite --timestamp-end 2022-01-01T01:00:00Z"},
	{`^docs/iotdb.md: run --workload`, inFull, smallQueries + once + " --scale 5 --log-interval 1m"},
	{`^docs/iotdb.md: run block`, inFull, smallQueries + once + " --scale 5 --log-interval 10m --target sqlite"},
	{`^[^ ]+: run --iotdb-config`, inFull, once},
	{`^docs/own-data.md: run `, inFull, smallQueries + once},
	{`^docs/metrics.md: run `, inFull, smallQueries + once + " --scale 4 --log-interval 1m --timestamp-end 2016-01-01T01:00:00Z --replace"},
	{`^docs/ticks.md: run `, inFull, smallQueries + once + " --scale 4 --log-interval 1m --replace"},
	{`^docs/growth.md: run `, inFull, smallRun + " --target influxdb"},
	{`^docs/mixed.md: run `, inFull, smallRun + " --batch-size 10 --set mixed.duration=300ms"},
	{`^[^ ]+: run .*--print`, inFull, ""},
	{`^[^ ]+: history `, inFull, smallData + smallQueries + " --repeats 2"},
	{`^[^ ]+: bisect `, inFull, smallData},
	{`^[^ ]+: run .*--rate `, inFull, smallRun + " --time-box 100ms"}, // at 200 queries a second some arrive
	{`^[^ ]+: run( |$)`, inFull, smallRun},
	{`^[^ ]+: (load|generate)`, inFull, smallData},
	{`^[^ ]+: query `, inFull, smallQueries},
	{`^[^ ]+: conformance .*--badge`, parse, "a badge is about all checks; the script conformance has one"},
	{`^[^ ]+: conformance `, inFull, " --check census"}, // the script conformance runs the whole suite
	{``, inFull, ""},
}

// stubs stand for programs that pages name and that tests do not run. They are functions of bash.
var stubs = []struct{ program, body, reason string }{
	{"docker", ":", "starts containers; the package servers compares these commands with its images"},
	{"go", `[ "$1 $2" != "run ./cmd/tsmark" ] || tsmark "${@:3}"`, "tests are running already"},
	{"git", "cd() { :; }", "clones over the network"},
	{"sudo", ":", "installs packages; packaging/try does"},
	{"brew", "echo .", "installs the formula; packaging/try-formula does"},
	{"tar", ":", "unpacks an archive of a release"},
	{"sha256sum", ":", "checks an archive of a release"},
	{"openssl", "echo 0123456789abcdef0123456789abcdef", "not everywhere installed"},
	{"python3", ":", "makes an environment; .ci/run does"},
	{"mydb/.venv/bin/pip", ":", "installs packages; .ci/run does"},
	{"mydb/.venv/bin/python", ":", "is in the environment that is not made"},
	{"createuser", ":", "needs PostgreSQL"},
	{"createdb", ":", "needs PostgreSQL"},
	{"prometheus", ":", "needs Prometheus"},
	{"thanos", ":", "needs Thanos"},
	{"cortex", ":", "needs Cortex"},
	{"mimir", ":", "needs Mimir"},
	{"./benchmark.sh", ":", "is IoTDB-Benchmark's"},
	{"tsbs_generate_data", ":", "is TSBS's"},
	{"tsbs_generate_queries", ":", "is TSBS's"},
	{"tsbs_run_queries_influx", ":", "is TSBS's"},
	{"tsbs_load_questdb", ":", "is TSBS's"},
	{"/usr/bin/time", `"${@:2}"`, "not everywhere installed"},
}

// programs are the programs that pages may run.
var programs = []string{"cat", "chmod", "cp", "id", "mkdir", "sed"}

// blocks are the blocks of pages that are neither commands nor experiments, by their beginning: text, or
// the content of a file that commands of the page read.
var blocks = []struct{ page, begin, file, reason string }{
	{"README.md", "              rows", "", "a diagram"},
	{"README.md", "No difference shown", "", runReport},
	{"docs/ci.md", "on: pull_request", "", "a workflow, whose commands run; .ci/run checks the rest"},
	{"docs/design/overview.md", "workload ──", "", "a diagram"},
	{"docs/drivers/cassandra.md", "CREATE TABLE tsmark.cpu ", "", "tables, shortened"},
	{"docs/drivers/cassandra.md", "CREATE TABLE tsmark.series_bigint", "", "a table and its key, shortened"},
	{"docs/drivers/griddb.md", "cpu_0, cpu_1", "", "containers, shortened"},
	{"docs/drivers/prometheus.md", "storage: ", "", "the server's configuration"},
	{"docs/faults.md", "target pg failed", "", "a message"},
	{"docs/faults.md", "lastpoint   failed", "", "a message"},
	{"docs/faults.md", "target influxdb failed", "", "a message"},
	{"docs/iotdb-config.md", "LOOP=100 TEST", "routine", ""},
	{"docs/live.md", "scrape_configs:", "", "Prometheus's configuration"},
	{"docs/measuring.md", "duckdb 2.41× faster", "", "excerpts of a report"},
	{"docs/own-queries.md", "SELECT hostname", "newest-of-some.sql", ""},
	{"docs/own-server.md", "postgres: database", "", "excerpts of a check"},
	{"docs/performance.md", "DB_SWITCH=", "config.properties", ""},
	{"docs/postgres-results.md", "CREATE ROLE tsmark", "", "SQL for PostgreSQL"},
	{"docs/postgres-results.md", "SELECT started", "", "SQL for PostgreSQL"},
	{"docs/postgres-results.md", "-- for Grafana", "", "SQL for PostgreSQL, which TestDashboard runs"},
	{"docs/tsbs-errata.md", "CREATE FUNCTION time_bucket", "", "SQL for PostgreSQL"},
}

// runReport marks blocks with the output of a command of the page: their lines without figures are compared.
const runReport = "the report of a run"

// everyPage makes files that commands of pages read.
const everyPage = `
tsmark run --print` + smallRun + ` > experiment.yaml
tsmark generate` + smallData + ` --format influx --file cpu.lp
tsmark generate` + smallData + ` --format influx --file cpu.influx
cat > config.properties <<'E'
DB_SWITCH=SQLite
DEVICE_NUMBER=8
SENSOR_NUMBER=6
DATA_CLIENT_NUMBER=8
LOOP=2
OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0:0:0
E
echo secret > FILE
echo 0123456789abcdef0123456789abcdef > token
echo > tsmark.rb
`

// before are commands that precede those of a page.
var before = map[string]string{
	"docs/ci.md": `
tsmark run --results elsewhere --target duckdb --target sqlite --query-type lastpoint` + smallRun + `
tsmark export --results elsewhere --output good.tsmark`,
	"docs/commands.md": `
for id in 3f2a 91c0 77b1 1d55; do
	tsmark run --target plain=sqlite,index=tags_time --target fast=sqlite,synchronous=off --query-type lastpoint,single-groupby-1-1-1` + smallRun + `
done
tsmark load postgres,host=db1,user=me` + smallData,
	"docs/installing.md":   "fpath=(. .); mkdir -p ~/.config/fish/completions",
	"docs/results-site.md": "mkdir exports; tsmark run" + smallRun,
	"docs/scale-out.md":    "tsmark run --target questdb --workers 4 --print > experiment.yaml",
	"docs/tsbs.md":         "tsmark run --target influxdb,host=db1 --print > experiment.yaml",
}

// ids are the ids of runs on pages. They stand for the first runs of a page.
var ids = []string{"3f2a", "91c0", "77b1", "1d55"}

// The commands of README.md and of the pages under docs run as they are printed, page by page, each page
// in a folder of its own; so do experiments. A command that must not run is parsed and planned at least.
// The tables above name every exception; an entry that no page needs is an error.
func TestPages(t *testing.T) {
	slowtest.Skip(t)
	if d, err := knownCatalog().Driver("duckdb"); err != nil || d.Missing != "" {
		t.Skip("pages use DuckDB")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	m := &manual{root: root, files: t.TempDir(), bin: t.TempDir(), used: make(map[string]bool)}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(m.bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m.makeFiles(t)
	all := m.list(t)
	executed := 0
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			executed++
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(m.files)); err != nil {
				t.Fatal(err)
			}
			p := &page{manual: m, T: t, name: name, folder: folder}
			p.test()
		})
	}
	if executed < len(all) {
		return
	}
	for _, r := range rules {
		m.expectUse(t, "rule "+r.command)
	}
	for _, s := range stubs {
		m.expectUse(t, "stub "+s.program)
	}
	for _, b := range blocks {
		m.expectUse(t, "block "+b.page+": "+b.begin)
	}
	for name := range before {
		if !slices.Contains(all, name) {
			t.Errorf("there is no page %s", name)
		}
	}
}

// manual is all pages.
type manual struct {
	root, files, bin string // folders of the checkout, of files for every page, and of programs
	used             map[string]bool
}

// makeFiles makes the files for every page.
func (m *manual) makeFiles(t *testing.T) {
	p := &page{manual: m, T: t, name: "files", folder: m.files}
	p.execute(everyPage, nil)
	trips := "COPY (SELECT TIMESTAMP '2024-03-01' + to_minutes(i) AS pickup, CASE i % 2 WHEN 0 THEN 'CMT' ELSE 'VTS' END AS vendor, " +
		"CASE i % 3 WHEN 0 THEN 'cash' ELSE 'card' END AS payment, 5 + i % 40 / 2 AS fare, 1 + i % 4 AS passengers FROM range(1000) t(i)) TO '"
	for _, name := range []string{"trips.parquet", "trips/march.parquet"} {
		path := filepath.Join(m.files, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := queryDuckDB(":memory:", trips+path+"'"); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range m.read(t, "docs/own-queries.md") {
		if name := b.fileName(); name == "mine.yaml" {
			p.write(name, b.text())
		}
	}
}

func (m *manual) expectUse(t *testing.T, what string) {
	if !m.used[what] {
		t.Errorf("%s: no page needs it; remove it from the table", what)
	}
}

// list returns the names of the pages.
func (m *manual) list(t *testing.T) []string {
	names := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(m.root), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// block is a part of a page that is fenced, or indented like code and between blank lines.
type block struct {
	line   int    // of its first line, from 1
	format string // after the fence; empty: none
	lines  []string
}

func (b *block) text() string { return strings.Join(b.lines, "\n") + "\n" }

var (
	fileComment = regexp.MustCompile(`^# ([a-z-]+\.(yaml|properties))$`)
	yamlLine    = regexp.MustCompile(`^(- )?[a-z_-]+:( |$)`)
	workflowRun = regexp.MustCompile(`^ *- run: (.*)`)
)

// fileName returns the name of a file that a comment in the first line has; empty: none.
func (b *block) fileName() string {
	if m := fileComment.FindStringSubmatch(b.lines[0]); m != nil {
		return m[1]
	}
	return ""
}

func (b *block) isYAML() bool {
	i := slices.IndexFunc(b.lines, func(line string) bool { return !strings.HasPrefix(line, "#") })
	return i >= 0 && yamlLine.MatchString(b.lines[i])
}

// read returns the blocks of a page.
func (m *manual) read(t *testing.T, name string) []block {
	text, err := os.ReadFile(filepath.Join(m.root, name))
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	blank, inside, fenced := true, false, false
	for i, line := range strings.Split(string(text), "\n") {
		indented := strings.HasPrefix(line, "    ")
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence:
			if fenced = !fenced; fenced {
				list = append(list, block{line: i + 2, format: strings.TrimPrefix(line, "```")})
			}
			inside = false
		case !fenced && !(indented && (blank || inside)):
			inside = false
		default:
			if !inside && !fenced {
				list = append(list, block{line: i + 1})
			}
			last := &list[len(list)-1]
			last.lines, inside = append(last.lines, line), !fenced
		}
		blank = strings.TrimSpace(line) == ""
	}
	for i := range list {
		indent := 100
		for _, line := range list[i].lines {
			if line != "" {
				indent = min(indent, len(line)-len(strings.TrimLeft(line, " ")))
			}
		}
		for j, line := range list[i].lines {
			if line != "" {
				list[i].lines[j] = line[indent:]
			}
		}
	}
	return list
}

// page is a page whose blocks are executed.
type page struct {
	*testing.T
	*manual
	name, folder string

	mu     sync.Mutex // guards the fields below: commands may be in the background
	known  catalog.Catalog
	runs   []string // ids of its runs, in order
	output bytes.Buffer
}

// test executes the blocks of the page.
func (p *page) test() {
	var script, reports []string
	add := func(line int, command string) {
		for len(script) < line {
			script = append(script, "")
		}
		script[line-1] = command
	}
	for _, b := range p.read(p.T, p.name) {
		known, file, reason := p.findListed(&b)
		switch {
		case file != "":
			p.write(file, b.text())
		case known && b.format == "yaml":
			p.parseYAML(&b)
			for i, line := range b.lines {
				if m := workflowRun.FindStringSubmatch(line); m != nil {
					add(b.line+i, m[1])
				}
			}
		case known && reason == runReport:
			reports = append(reports, b.lines...)
		case known:
		case b.isYAML():
			p.writeYAML(&b, add)
		default:
			for i, line := range b.lines {
				add(b.line+i, line)
			}
		}
	}
	p.checkSpans()
	p.execute(before[p.name], script)
	printed := squeeze(p.output.String())
	for _, line := range reports {
		if line = squeeze(line); line != "…" && !strings.ContainsAny(line, "0123456789█") && !strings.Contains(printed, line) {
			p.Errorf("%s: the report has no line %q", p.name, line)
		}
	}
}

// squeeze replaces blanks that follow each other by one.
func squeeze(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }

// findListed reports whether the table of blocks has a block, with the file for its content or the reason why
// it is not executed.
func (p *page) findListed(b *block) (known bool, file, reason string) {
	for _, k := range blocks {
		if k.page == p.name && strings.HasPrefix(b.lines[0], k.begin) {
			p.used["block "+k.page+": "+k.begin] = true
			return true, k.file, k.reason
		}
	}
	return false, "", ""
}

func (p *page) write(name, text string) {
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o666); err != nil {
		p.Fatal(err)
	}
}

func (p *page) parseYAML(b *block) any {
	var content any
	if err := yaml.Unmarshal([]byte(b.text()), &content); err != nil {
		p.Errorf("%s:%d: %v", p.name, b.line, err)
	}
	return content
}

// writeYAML writes an experiment, or a part of one, or queries, into a file, and adds a command that uses
// the file.
func (p *page) writeYAML(b *block, add func(line int, command string)) {
	name := b.fileName()
	if name == "" {
		name = fmt.Sprintf("block-%d.yaml", b.line)
	}
	p.write(name, b.text())
	if _, list := p.parseYAML(b).([]any); list {
		add(b.line, "tsmark queries --own-queries "+name+" --query-type core --queries 1 --format sqlite")
	} else {
		add(b.line, "tsmark run "+name)
	}
}

// checkSpans reports flags that do not exist in the commands within paragraphs.
func (p *page) checkSpans() {
	text, err := os.ReadFile(filepath.Join(p.root, p.name))
	if err != nil {
		p.Fatal(err)
	}
	a := &app.App{Catalog: knownCatalog()}
	root := newRoot(a, run.NewExecutor(a))
	span := regexp.MustCompile("`tsmark ([^`]+)`")
	for _, at := range span.FindAllSubmatchIndex(text, -1) {
		words := strings.Fields(string(text[at[2]:at[3]]))
		if strings.ToUpper(words[0]) == words[0] || strings.HasPrefix(words[0], "-") { // COMMAND
			continue
		}
		line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
		cmd, _, err := root.Find(words)
		if err != nil || !cmd.HasParent() {
			p.Errorf("%s:%d: there is no command tsmark %s", p.name, line, words[0])
			continue
		}
		for _, word := range words {
			name, isFlag := strings.CutPrefix(word, "--")
			name, _, _ = strings.Cut(name, "=")
			if isFlag && name != "" && name != "help" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
				p.Errorf("%s:%d: tsmark %s has no flag --%s", p.name, line, cmd.Name(), name)
			}
		}
	}
}

// bashHead defines tsmark as a function that sends its arguments to the test, with the line of the page.
// Failures of programs are reported with their line.
const bashHead = `trap 'echo "${BASH_SOURCE[0]}:$LINENO: exit status $?: $BASH_COMMAND" >&2' ERR
tsmark() {
	exec 3<>"/dev/tcp/127.0.0.1/$PORT"
	printf '%s\0' "$#" "${BASH_SOURCE[@]: -2:1}" "${BASH_LINENO[@]: -3:1}" "$@" >&3
	cat <&3
	exec 3>&-
}
`

// execute runs the commands that precede those of the page, and then its own.
func (p *page) execute(before string, script []string) {
	p.Chdir(p.folder)
	p.Setenv("HOME", p.folder)
	p.known = pageCatalog()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the script has ended
			}
			serving.Go(func() { p.answer(conn) })
		}
	})
	head := bashHead
	for _, s := range stubs {
		head += fmt.Sprintf("%s() { echo %[1]s >>~/stubs; %s; }\n", s.program, s.body)
	}
	p.write("before", before)
	p.write("page", strings.Join(script, "\n"))
	p.write("head", head+"source ./before\nsource ./page\nwait\n")
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	shell := exec.CommandContext(p.Context(), "bash", "head")
	var stderr bytes.Buffer
	shell.Env = append(os.Environ(), "PATH="+p.bin, "PORT="+port)
	shell.Stderr = &stderr
	if err := shell.Run(); err != nil {
		fmt.Fprintln(&stderr, "./page:0:", err)
	}
	listener.Close()
	serving.Wait()
	if text := stderr.String(); regexp.MustCompile(`(?m)^\S*(page|before|head): ?(line )?\d+:`).MatchString(text) {
		p.Errorf("%s", strings.ReplaceAll(text, "./page", p.name))
	}
	if used, err := os.ReadFile("stubs"); err == nil {
		for name := range strings.FieldsSeq(string(used)) {
			p.used["stub "+name] = true
		}
	}
}

// answer executes a command that the script has sent, and sends back its output.
func (p *page) answer(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	read := func() string {
		text, err := in.ReadString(0)
		if err != nil {
			p.Errorf("%s: reading a command: %v", p.name, err)
		}
		return strings.TrimSuffix(text, "\x00")
	}
	n, _ := strconv.Atoi(read())
	file, line := read(), read()
	args := make([]string, n)
	for i := range args {
		args[i] = read()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = conn.Write(p.command(file, line, args)) // a script that has ended reads nothing
}

var runPage = regexp.MustCompile(`(?m)^Page: \S*?([^/\s]+)/report\.html$`)

// command executes a command of the page, and returns its output.
func (p *page) command(file, line string, args []string) []byte {
	text := strings.Join(args, " ")
	how, added := inFull, ""
	if file == "./page" {
		file = p.name
		for _, r := range rules {
			if regexp.MustCompile(r.command).MatchString(p.name + ": " + text) {
				p.used["rule "+r.command] = true
				if how = r.depth; how == inFull {
					added = r.text
				}
				break
			}
		}
	}
	for i := range args {
		for j := range min(len(ids), len(p.runs)) {
			args[i] = strings.ReplaceAll(args[i], ids[j], p.runs[j])
		}
	}
	known := p.known
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	switch how {
	case asPrint:
		added, known = " --print", knownCatalog()
	case planOnly:
		known = knownCatalog()
		cancel()
	case parse:
		p.parse(file+":"+line, args)
		return nil
	}
	var out, errs bytes.Buffer
	code := execute(ctx, slices.Concat([]string{"tsmark"}, args, strings.Fields(added)), &out, &errs, known)
	// Whether a condition holds, or can be judged, depends on the machine.
	judged := strings.Contains(text, "--fail-if") && strings.Contains(errs.String(), "tsmark: condition ")
	if code != app.ExitDone && !judged && (how != planOnly || code == app.ExitUsage) {
		p.Errorf("%s:%s: tsmark %s%s: exit status %d\n%s%s", file, line, text, added, code, &out, &errs)
	}
	if m := runPage.FindSubmatch(out.Bytes()); m != nil && args[0] == "run" {
		p.runs = append(p.runs, string(m[1]))
	}
	p.output.Write(out.Bytes())
	return out.Bytes()
}

// parse parses a command without executing it.
func (p *page) parse(where string, args []string) {
	a := &app.App{Catalog: p.known}
	cmd, rest, err := newRoot(a, run.NewExecutor(a)).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		p.Errorf("%s: tsmark %s: %v", where, strings.Join(args, " "), err)
	}
}

// pageCatalog is the catalog of the pages' commands: servers are replaced by databases in memory.
func pageCatalog() catalog.Catalog {
	known := scriptCatalog()
	for i, d := range known.Drivers {
		if d.TestServer != nil || d.UserServer != nil {
			known.Drivers[i] = inMemory(d)
		}
	}
	return known
}

// inMemory replaces the servers of a driver by databases in memory, one for each place. Queries are
// rendered by the driver, too.
func inMemory(d driver.Driver) driver.Driver {
	var mu sync.Mutex
	places := make(map[string]driver.Driver)
	rendering, render, place := memory.Driver(d.Name), d.Render, d.Place
	d.Endpoints = func(driver.Options) ([]driver.Endpoint, error) { return nil, nil }
	d.Render = func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
		r, err := render(q, s, o)
		if err == nil {
			r.Plan, err = rendering.Render(q, s, o)
		}
		return r, err
	}
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		mu.Lock()
		defer mu.Unlock()
		name := place(o)
		if places[name].Open == nil {
			places[name] = memory.Driver(d.Name)
		}
		db, err := places[name].Open(ctx, env, o)
		db.Required = renderedTwice{db.Required}
		return db, err
	}
	return d
}

// renderedTwice is a database whose requests have the one for the database in memory as their plan.
type renderedTwice struct{ driver.Required }

func (d renderedTwice) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := d.Required.NewQuerier(ctx, worker)
	return plannedQuerier{q}, err
}

type plannedQuerier struct{ driver.Querier }

func (q plannedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if plan, ok := r.Plan.(driver.Request); ok {
		r = plan
	}
	return q.Querier.Do(ctx, r, sink)
}
