//go:build !cgo || light || !(linux || darwin) || !(amd64 || arm64)

package duckdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
)

func TestOpenSaysHowToBuild(t *testing.T) {
	_, err := Driver().Open(t.Context(), driver.Env{Create: true}, nil)
	if !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Error(err)
	}
}
