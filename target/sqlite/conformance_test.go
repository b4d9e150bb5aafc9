package sqlite_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/sqlite"
	"github.com/tsmark/tsmark/target/targettest"
)

func TestConformance(t *testing.T) { targettest.Run(t, sqlite.Kind(), nil) }
