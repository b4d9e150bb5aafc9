package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
)

// serverFor returns the address of a driver's server that no other test uses. One that starts in a moment is started for
// the test: its turn at the server that packages share may come minutes later.
func serverFor(t *testing.T, d driver.Driver) (host, port string) {
	t.Helper()
	host, port = conformance.Address(t, d.Name)
	if d.Name == "prometheus" || d.Name == "victoriametrics" {
		return host, strconv.Itoa(fault.Script(t, d.Name).Port())
	}
	conformance.Sole(t, d)
	return host, port
}

// The scripts of servers are named for their drivers. Beside the commands of the other
// scripts they find $HOST, $PORT, the ports behind it, and $PASSWORD_FILE with
// the password of the superuser.
func TestServerScripts(t *testing.T) {
	for _, d := range all.Drivers() {
		script := filepath.Join("testdata", "servers", d.Name+".txtar")
		if _, err := os.Stat(script); err != nil {
			continue // nothing of it is for people to try at the command line
		}
		t.Run(d.Name, func(t *testing.T) {
			switch d.Name {
			case "cassandra", "clickhouse", "influxdb3", "iotdb", "opentsdb", "kairosdb", "victoriametrics": // CI leaves them to the nightly: they take long
				conformance.Long(t)
			}
			host, port := serverFor(t, d)
			first, err := strconv.Atoi(port)
			if err != nil {
				t.Fatal(err)
			}
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				Cmds:                commands(),
				Setup: func(env *testscript.Env) error {
					env.Setenv("NO_COLOR", "1")
					env.Setenv("HOST", host)
					for i, variable := range []string{"PORT", "PORT_1", "PORT_2"} {
						env.Setenv(variable, strconv.Itoa(first+i))
					}
					file := filepath.Join(env.WorkDir, "password-file")
					env.Setenv("PASSWORD_FILE", file)
					env.Setenv("PASSWORD", conformance.Password(t))
					return os.WriteFile(file, []byte(conformance.Password(t)+"\n"), 0o600)
				},
			})
		})
	}
}
