package postgres_test

import (
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

// Who has no connection left for a user is told which limit that is, who set it and how it is
// raised, and knows it beforehand.
func TestConnectionLimits(t *testing.T) {
	options := server(t)
	const role, password = "test_limited", "a password of tests"
	drop := []string{"DROP OWNED BY " + role, "DROP ROLE " + role}
	admin(t, options, "CREATE ROLE "+role+" LOGIN PASSWORD '"+password+"'")
	t.Cleanup(func() { admin(t, options, drop...) })
	database := options["database"]
	own := maps.Clone(options)
	own["user"], own["password"] = role, password
	for _, c := range []struct {
		set, unset string
		most       int64
		says       string
	}{
		{"ALTER ROLE " + role + " CONNECTION LIMIT 2", "ALTER ROLE " + role + " CONNECTION LIMIT -1", 2,
			"role " + role + " has a CONNECTION LIMIT of 2, which was set by ALTER ROLE; each worker needs one: use fewer workers, or raise it there"},
		{"ALTER DATABASE " + database + " CONNECTION LIMIT 2", "ALTER DATABASE " + database + " CONNECTION LIMIT -1", 2,
			"database " + database + " has a CONNECTION LIMIT of 2, which was set by ALTER DATABASE; "},
		{"SELECT 1", "SELECT 1", 97, "its max_connections is 100, which was set in its configuration file, and 3 of them are kept for superusers; each worker needs one: "},
	} {
		t.Run(c.set, func(t *testing.T) {
			admin(t, options, c.set)
			defer admin(t, options, c.unset)
			k := postgres.Driver()
			resolved, err := k.Resolve(own)
			if err != nil {
				t.Fatal(err)
			}
			db, err := k.Open(t.Context(), driver.Env{Create: true}, resolved)
			if err != nil {
				t.Fatal(err)
			}
			defer conformance.Close(t, db)
			bound, err := db.ConnectionLimit(t.Context())
			if err != nil || bound.Most != c.most || !strings.Contains(bound.Why, c.says) {
				t.Errorf("%v, %+v", err, bound)
			}
			if c.most > 2 {
				return // others need the server's
			}
			var first driver.Querier
			for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the server may still count connections that are closed
				if first, err = db.NewQuerier(t.Context(), 0); err == nil || time.Since(begin) > 10*time.Second {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conformance.Close(t, first)
			_, err = db.NewQuerier(t.Context(), 1)
			if !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "the server takes no more connections (too many connections for ") || !strings.HasSuffix(err.Error(), bound.Why) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestPooled checks that an intermediary, such as a pooler, may accept more connections than the
// server.
func TestPooled(t *testing.T) {
	options := server(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := net.JoinHostPort(options["host"], options["port"])
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				return
			}
			go func() { _, _ = io.Copy(s, c); s.Close() }()
			go func() { _, _ = io.Copy(c, s); c.Close() }()
		}
	}()
	own := maps.Clone(options)
	_, own["port"], _ = net.SplitHostPort(l.Addr().String())
	if bound, err := open(t, own).ConnectionLimit(t.Context()); err != nil || bound.Most != 0 {
		t.Errorf("%v, %+v", err, bound)
	}
	if bound, err := open(t, options).ConnectionLimit(t.Context()); err != nil || bound.Most != 100 {
		t.Errorf("%v, %+v", err, bound)
	}
}
