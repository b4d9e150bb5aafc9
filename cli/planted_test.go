package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/report/write"
)

// planting hands out secrets, each of its own, and remembers them by where
// they are.
type planting map[string]string

// secretOf returns the secret of a place.
func (p planting) secretOf(place string) string {
	if p[place] == "" {
		p[place] = fmt.Sprintf("s%02d&cr'T+%d", len(p), 7919*len(p)+104729)
	}
	return p[place]
}

// plain is at for places that take no quotes.
func (p planting) plain(place string) string {
	if p[place] == "" {
		p[place] = fmt.Sprintf("S3cr%02dT%d", len(p), 7919*len(p)+104729)
	}
	return p[place]
}

// formsOf returns how a server, a gateway or a file may write a secret.
func formsOf(secret string) []string {
	quoted := strconv.Quote(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret), quoted[1 : len(quoted)-1],
		strings.ReplaceAll(secret, "&", `\u0026`), strings.ReplaceAll(secret, "'", "''"), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte("ann:" + secret)),
		base64.StdEncoding.EncodeToString([]byte("ann:" + secret)), base64.StdEncoding.EncodeToString([]byte("someone:" + secret)),
	}
}

// printable is all text about secrets that may be printed.
func (p planting) printable() string {
	var all []string
	for _, secret := range p {
		all = append(all, formsOf(secret)...)
	}
	return strings.Join(all, " ")
}

// checkAbsent fails the test if a text has a secret.
func (p planting) checkAbsent(t *testing.T, where, text string) {
	t.Helper()
	for place, secret := range p {
		for _, form := range formsOf(secret) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s tells the secret %s: …%q…", where, place, text[max(0, at-60):min(len(text), at+60)])
				break
			}
		}
	}
}

// everywhere checks all output, and everything that can be produced from the
// results folder.
func (p planting) everywhere(t *testing.T, kind []driver.Driver, dir, said string) {
	t.Helper()
	p.checkAbsent(t, "the run", said)
	out := t.TempDir()
	for _, args := range [][]string{
		{"runs"}, {"report", "--experiment"}, {"report", "--view", "iotdb"}, {"export", "--output", filepath.Join(out, "run.json")}, {"analyze"}, {"compare", "latest", "latest"},
		{"resume"}, {"rerun"},
	} {
		_, said := tryAll(t, kind, append(append([]string{"tsmark"}, args...), "--results", dir)...)
		p.checkAbsent(t, strings.Join(args, " "), said)
	}
	for _, format := range write.Formats() {
		if format == string(write.PNG) {
			continue // the picture of SVG, in pixels
		}
		_, said := tryAll(t, kind, "tsmark", "report", "--results", dir, "--format", format)
		p.checkAbsent(t, format, said)
	}
	files := 0
	for _, folder := range []string{dir, out} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			data, err := os.ReadFile(path) // every byte: free pages of databases too
			p.checkAbsent(t, path, string(data))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files == 0 {
		t.Errorf("there are no files")
	}
}

func tryAll(t *testing.T, kinds []driver.Driver, args ...string) (code int, said string) {
	t.Helper()
	known := knownCatalog()
	if kinds != nil {
		known = testCatalog(known.Workloads, kinds)
	}
	var out strings.Builder
	code = execute(t.Context(), args, &out, &out, known)
	return code, out.String()
}

// vault is a driver that leaks all secrets at a step.
func vault(p planting, failsAt string) driver.Driver {
	kind := memory.ChangeCaps(leaky(new(string)), func(c *driver.Caps) { c.Embedded = false })
	kind.Name = "vault"
	kind.Options = append(kind.Options, driver.Option{Name: "host", Default: "127.0.0.1"}, driver.Option{Name: "port", Default: "1"},
		driver.Option{Name: "dsn"}, driver.Option{Name: "file", Secret: true})
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		inner, err := open(ctx, env, o)
		if err != nil {
			return driver.DB{}, err
		}
		l := &leak{Required: inner.Required.(*leak).Required, failsAt: failsAt, said: p.printable()}
		return driver.DB{Required: &vaultTarget{l}}, l.failAt("open")
	}
	return kind
}

// vaultTarget also leaks them in metrics, steps and marks.
type vaultTarget struct{ *leak }

func (v *vaultTarget) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := v.leak.NewQuerier(ctx, worker)
	return &vaultQuerier{q, v.leak}, err
}

// vaultQuerier gives wrong answers at the step "wrong".
type vaultQuerier struct {
	driver.Querier
	leak *leak
}

func (q *vaultQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := q.Querier.Do(ctx, r, sink)
	if q.leak.failsAt == "lost" {
		return cost, fmt.Errorf("%w: %s", driver.ErrUnreachable, q.leak.said)
	}
	return cost, err
}

// TestPlanted plants secrets wherever one may be written, has a target leak
// each of them in every form at every step, and then checks each byte that
// was printed or stored.
func TestPlanted(t *testing.T) {
	slowtest.Skip(t)
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "# HELP %s\nprocess_open_fds 7\nnode_memory_MemTotal_bytes 1e9\nnode_memory_MemAvailable_bytes 1e8\nnode_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 1\n", r.URL)
	}))
	defer prometheus.Close()
	metrics := strings.TrimPrefix(prometheus.URL, "http://")
	for _, step := range []string{"nowhere", "open", "describe", "write", "census", "query", "answer", "unsupported", "lost"} {
		for _, mixed := range []bool{false, true} {
			if mixed && (step == "open" || step == "describe" || step == "census") {
				continue // not another way there
			}
			t.Run(fmt.Sprintf("%s/mixed=%v", step, mixed), func(t *testing.T) {
				p := make(planting)
				dir := t.TempDir()
				file := filepath.Join(dir, "password")
				if err := os.WriteFile(file, []byte("\ufeff"+p.secretOf("in a file")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				t.Setenv("TSMARK_V_TOKEN", p.secretOf("a variable of the target"))
				t.Setenv("PGPASSWORD", p.secretOf("a variable of others"))
				t.Setenv("DATABASE_URL", "postgres://ann:"+p.plain("the URL of a variable")+"@h/x")
				t.Setenv("QDB_CLIENT_CONF", "http::addr=h;username=ann;password="+p.plain("a client's settings")+";token="+p.plain("and their token")+";")
				commands := func(where string) string {
					return strings.Join([]string{
						"--password " + p.plain(where+" --password"), "-p" + p.plain(where+" -p"), "--password='" + p.plain(where+" --password=''") + "'",
						"--api-key=" + p.plain(where+" --api-key="), "-password " + p.plain(where+" -password"), "DB_PASSWORD=" + p.plain(where+" DB_PASSWORD="),
						"--token " + p.plain(where+" --token"), "-u ann:" + p.plain(where+" -u"), "--pass " + p.plain(where+" --pass"),
						"-H 'Authorization: Bearer " + p.plain(where+" Authorization") + "'", "http://ann:" + p.plain(where+" URL") + "@h/?auth=" + p.plain(where+" auth="),
						`"PASSWORD '` + p.plain(where+" SQL") + `'"`,
					}, " ")
				}
				yaml := "name: planted\nnotes: [\"with " + p.plain("a note") + "\", \"password=" + p.plain("a note's own") + "\"]\n" +
					"workload: {name: cpu-only, scale: 8, log-interval: 10m}\n" +
					"queries: {count: 3, verify: 1, types: [lastpoint, single-groupby-1-1-1]}\nload: {batch-size: 100}\n"
				if mixed {
					yaml += "mixed: {loaded: 50, writes: 50}\n"
				}
				yaml += "targets:\n  - name: v\n    driver: vault\n" +
					"    start: \"sleep 100 # {port} " + strings.ReplaceAll(commands("start"), `"`, `\"`) + "\"\n" +
					"    metrics: http://ann:" + p.plain("metrics") + "@" + metrics + "/metrics?auth=" + p.plain("metrics?auth=") + "\n" +
					"    exporter: http://" + metrics + "/metrics?token=" + p.plain("exporter?token=") + "&p=" + p.plain("exporter?p=") + "\n" +
					"    options:\n      password: \"" + p.secretOf("an option") + "\"\n      file: \"@" + file + "\"\n      user: ann\n" +
					"      url: \"postgres://ann:" + url.QueryEscape(p.secretOf("a URL")) + "@db.example/x?sslpassword=" + p.plain("a URL's parameter") + "\"\n" +
					"      dsn: \"host=ann:" + p.plain("host=") + "@db1 password='" + p.plain("a DSN") + "' passphrase=" + p.plain("a passphrase") + "\"\n"
				// A note is redacted only because it contains a known secret.
				yaml = strings.Replace(yaml, "with "+p["a note"], "with "+p["an option"], 1)
				delete(p, "a note")
				if len(p) < 35-9 {
					t.Fatalf("only %d secrets were planted", len(p))
				}
				experiment := filepath.Join(t.TempDir(), "e.yaml")
				if err := os.WriteFile(experiment, []byte(yaml), 0o600); err != nil {
					t.Fatal(err)
				}
				results := filepath.Join(dir, "results")
				kinds := []driver.Driver{vault(p, step)}
				args := []string{"tsmark", "run", experiment, "--results", results}
				_, printed := tryAll(t, kinds, append(args, "--print")...)
				p.checkAbsent(t, "--print", printed)
				if !strings.Contains(printed, "***") {
					t.Fatalf("nothing was blotted out: %s", printed)
				}
				code, said := tryAll(t, kinds, args...)
				if step == "nowhere" && code != app.ExitDone || code == app.ExitUsage && step != "open" {
					t.Fatalf("exit status %d, said %s", code, said)
				}
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(results); err == nil && step != "open" {
					p.everywhere(t, kinds, results, said)
				}
			})
		}
	}
}

// TestPlantedAtServers has servers echo a client's credentials, in all
// forms, as gateways and lying servers do.
func TestPlantedAtServers(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		password = cmp.Or(password, r.Header.Get("X-ClickHouse-Key"))
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Influxdb-Version", "1.8 "+password)
		if strings.HasSuffix(r.URL.Path, "/ping") {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"error":"%s %s"} %s %s %s`, r.Header.Get("Authorization"), html.EscapeString(password), strings.Join(formsOf(password), " "), r.URL, body)
	}))
	defer echo.Close()
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(echo.URL, "http://"))
	pgPort := echoPostgres(t)
	for name, target := range map[string]string{
		"influxdb":          "influxdb,port=" + port,
		"victoriametrics":   "victoriametrics,port=" + port,
		"prometheus":        "prometheus,port=" + port,
		"mimir":             "mimir,port=" + port,
		"kairosdb":          "kairosdb,port=" + port,
		"opentsdb":          "opentsdb,port=" + port,
		"questdb":           "questdb,port=" + port + ",pg_port=" + pgPort,
		"postgres":          "postgres,port=" + pgPort,
		"mysql":             "mysql,port=" + echoMySQL(t, make(planting).secretOf("password")),
		"clickhouse":        "clickhouse,port=" + echoNative(t),
		"clickhouse (HTTP)": "clickhouse,protocol=http,http_port=" + port,
	} {
		t.Run(name, func(t *testing.T) {
			p := make(planting)
			results := filepath.Join(t.TempDir(), "results")
			t.Setenv("TSMARK_T_PASSWORD", p.secretOf("password"))
			code, said := tryAll(t, nil, "tsmark", "run", "--verbose", "--results", results, "--scale", "40", "--log-interval", "10m", "--queries", "2", "--verify", "1",
				"--query-type", "lastpoint", "--target", "t="+target+",user=ann,host="+host)
			quotes := name != "postgres" && name != "questdb" // their refusals of a login are not quoted
			if code == app.ExitDone || quotes && !strings.Contains(said, "***") {
				t.Errorf("exit status %d, and nothing was echoed: %s", code, said)
			}
			p.everywhere(t, nil, results, said)
		})
	}
}

// echoPostgres is a server that demands a password in the clear and refuses with it.
func echoPostgres(t *testing.T) (port string) {
	message := func(r io.Reader, head int) []byte {
		begin := make([]byte, head+4)
		if _, err := io.ReadFull(r, begin); err != nil {
			return nil
		}
		n := int(begin[head])<<24 | int(begin[head+1])<<16 | int(begin[head+2])<<8 | int(begin[head+3]) - 4
		body := make([]byte, max(0, min(n, 1<<16)))
		io.ReadFull(r, body) // otherwise a test of the response fails
		return body
	}
	_, port = stub.TCP(t, func(c net.Conn) {
		if body := message(c, 0); len(body) == 4 { // for TLS
			c.Write([]byte("N"))
			message(c, 0)
		}
		c.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
		password := strings.TrimRight(string(message(c, 1)), "\x00")
		text := "SFATAL\x00VFATAL\x00C28P01\x00Mno: " + strings.Join(formsOf(password), " ") + "\x00\x00"
		n := len(text) + 4
		c.Write(append([]byte{'E', 0, 0, byte(n >> 8), byte(n)}, text...))
	})
	return port
}

// echoMySQL is a server that knows the password but receives only its hash, and
// quotes the password in its refusal.
func echoMySQL(t *testing.T, password string) (port string) {
	packet := func(number byte, body string) []byte {
		return append([]byte{byte(len(body)), byte(len(body) >> 8), 0, number}, body...)
	}
	_, port = stub.TCP(t, func(c net.Conn) {
		c.Write(packet(0, "\x0a9.0\x00\x01\x00\x00\x0012345678\x00\x09\x82\x2d\x02\x00\x08\x00\x15"+strings.Repeat("\x00", 10)+"123456789012\x00mysql_native_password\x00"))
		c.Read(make([]byte, 1<<10))
		c.Write(packet(2, "\xff\x15\x04#28000no: "+strings.Join(formsOf(password), " ")))
	})
	return port
}

// echoNative is a server of ClickHouse's native protocol that refuses with the
// password.
func echoNative(t *testing.T) (port string) {
	_, port = stub.TCP(t, func(c net.Conn) {
		var hello proto.ClientHello
		r := proto.NewReader(c)
		if _, err := r.UVarInt(); err != nil || hello.Decode(r) != nil {
			return
		}
		var b proto.Buffer
		proto.ServerCodeException.Encode(&b)
		(&proto.Exception{Code: 516, Name: "no", Message: "no: " + strings.Join(formsOf(hello.Password), " ")}).EncodeAware(&b, hello.ProtocolVersion)
		c.Write(b.Buf)
	})
	return port
}
