//go:build !cgo || light || !(linux || darwin) || !(amd64 || arm64)

package cli

import (
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdDuckDB(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(queryDuckDB("")) }

func queryDuckDB(string, ...string) error {
	return errors.New("this test needs cgo and a C compiler, on Linux or macOS (amd64 or arm64)")
}
