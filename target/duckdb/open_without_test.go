//go:build !cgo || !(linux || darwin) || !(amd64 || arm64)

package duckdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/target"
)

func TestOpenSaysHowToBuild(t *testing.T) {
	_, err := Kind().Open(t.Context(), target.Env{}, nil)
	if !errors.Is(err, target.ErrUnreachable) || !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Error(err)
	}
}
