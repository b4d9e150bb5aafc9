package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tsmark/tsmark/driver/conformance"
)

// The scripts of servers are named for them. Beside the commands of the other
// scripts they find $HOST, $PORT, the ports behind it, and $PASSWORD_FILE with
// the password of the superuser.
func TestServerScripts(t *testing.T) {
	for _, name := range []string{"postgres", "questdb", "influxdb"} {
		t.Run(name, func(t *testing.T) {
			host, port := conformance.Address(t, name)
			first, err := strconv.Atoi(port)
			if err != nil {
				t.Fatal(err)
			}
			testscript.Run(t, testscript.Params{
				Files:               []string{filepath.Join("testdata", "servers", name+".txtar")},
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
