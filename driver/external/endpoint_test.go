//go:build !light

package external_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/serve"
	"github.com/tsmark/tsmark/query"
)

// A driver at an endpoint tells what its database's server tells, and makes the literals of users' texts.
func TestEndpoint(t *testing.T) {
	inside := sqlite.Driver()
	open := inside.Open
	served := inside
	served.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.FreeSpace = func(context.Context) (string, int64, error) { return "/data", -1, nil }
		db.ListProcesses = func(context.Context) ([]string, error) { return []string{"db1:9000"}, nil }
		return db, err
	}
	address := fmt.Sprintf("grpc://127.0.0.1:%d", fault.FreePort(t))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, served, address, "", nil) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	var programs external.Programs
	defer programs.Close()
	d, err := programs.Driver().Program(map[string]string{external.OptionEndpoint: address})
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Resolve(map[string]string{external.OptionEndpoint: address})
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if folder, free, err := db.FreeSpace(t.Context()); folder != "/data" || free != -1 || err != nil {
		t.Errorf("free space: %q, %d, %v", folder, free, err)
	}
	if list, err := db.ListProcesses(t.Context()); !reflect.DeepEqual(list, []string{"db1:9000"}) || err != nil {
		t.Errorf("processes: %q, %v", list, err)
	}

	want, got := inside.LiteralsOf(nil), d.LiteralsOf(options)
	if got.Language != want.Language || got.Confinement != want.Confinement || got.Unsupported != "" || got.Regexp != nil {
		t.Errorf("%+v, want %+v", got, want)
	}
	at := time.Date(2016, time.January, 1, 12, 0, 0, 1500, time.UTC)
	wantTime, _ := want.Time(at) // of SQLite, which names each
	if text, err := got.Time(at); text != wantTime || err != nil {
		t.Errorf("%s, %v; want %s", text, err, wantTime)
	}
	for _, value := range []string{"", "it's", `a\b`} {
		wantText, _ := want.Text(value)
		if text, err := got.Text(value); text != wantText || err != nil {
			t.Errorf("%s, %v; want %s", text, err, wantText)
		}
	}
	if text, err := got.Text("a\x00b"); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("%q, %v", text, err)
	}
}
