package agents

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/tsmark/tsmark/run/agents/broker"
)

// cluster is a NATS cluster of three servers that accept clients with credentials.
type cluster struct {
	servers          []*server.Server
	credentials      string // file with credentials for all subjects
	otherCredentials string // file with credentials from another operator
}

// operator is a NATS operator: its keys, and the accounts on its servers.
type operator struct {
	claims   *jwt.OperatorClaims
	system   string // account for messages between servers
	accounts server.MemAccResolver
	user     []byte // credentials of a user
}

// sign returns a claim with a signature.
func sign(t *testing.T, c jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// key is a new pair of keys and its public one.
func key(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

// newOperator makes an operator with two accounts, one with a user.
func newOperator(t *testing.T) *operator {
	t.Helper()
	o := new(operator)
	root, name := key(t, nkeys.CreateOperator)
	_, o.system = key(t, nkeys.CreateAccount)
	account, accountName := key(t, nkeys.CreateAccount)
	user, userName := key(t, nkeys.CreateUser)

	o.claims = jwt.NewOperatorClaims(name)
	o.claims.SystemAccount = o.system
	sign(t, o.claims, root)

	bench := jwt.NewAccountClaims(accountName)
	for _, a := range []struct{ name, text string }{
		{o.system, sign(t, jwt.NewAccountClaims(o.system), root)},
		{accountName, sign(t, bench, root)},
	} {
		if err := o.accounts.Store(a.name, a.text); err != nil {
			t.Fatal(err)
		}
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if o.user, err = jwt.FormatUserConfig(sign(t, jwt.NewUserClaims(userName), account), seed); err != nil {
		t.Fatal(err)
	}
	return o
}

// startCluster starts a cluster that ends with the test.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	o := newOperator(t)
	c := &cluster{}
	for file, user := range map[*string][]byte{&c.credentials: o.user, &c.otherCredentials: newOperator(t).user} {
		*file = filepath.Join(t.TempDir(), "user.creds")
		if err := os.WriteFile(*file, user, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const size = 3
	var ports [size]int
	var routes []*url.URL
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "bench", Host: "127.0.0.1", Port: port}, Routes: routes,
			TrustedOperators: []*jwt.OperatorClaims{o.claims}, SystemAccount: o.system, AccountResolver: &o.accounts,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		go s.Start()
		c.servers = append(c.servers, s)
	}
	for _, s := range c.servers {
		if !s.ReadyForConnections(20 * time.Second) {
			t.Fatal("a NATS server is not ready within 20 s")
		}
	}
	waitUntil(t, "all servers know each other", func() bool {
		return !slices.ContainsFunc(c.servers, func(s *server.Server) bool { return s.NumRoutes() < size-1 })
	})
	return c
}

// url is that of the servers, beginning with the n-th.
func (c *cluster) url(n int) string {
	var list []string
	for i := range c.servers {
		list = append(list, "nats://"+c.servers[(n+i)%len(c.servers)].Addr().String())
	}
	return strings.Join(list, ",")
}

// Agents and coordinator connect to an existing cluster of NATS servers with credentials. The
// cluster may lose a server while one result is in transfer and another is complete: the remaining
// servers are used, and all results arrive.
func TestCluster(t *testing.T) {
	nats := startCluster(t)
	access := broker.Access{Credentials: nats.credentials}
	for _, file := range []string{nats.otherCredentials, ""} {
		_, err := NewCoordinator(t.Context(), broker.Remote{URL: nats.url(0), Access: broker.Access{Credentials: file}}, Options{Agents: 1, Tool: tool, Timing: quick(), Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "does not accept the token or credentials") {
			t.Errorf("credentials %q: %v", filepath.Base(file), err)
		}
	}

	timing := quick()
	timing.Lost = 10 * time.Second // a connection finds in 4 s that its server is silent
	c := coordinator(t, broker.Remote{URL: nats.url(0), Access: access}, Options{Agents: 3, Timing: timing})
	var rest sync.WaitGroup
	rest.Add(2)
	for i, name := range []string{"a", "b", "c"} {
		serve(t, nats.url(i), Agent{Name: name}, access, workFunc(func(ctx context.Context, c Command, t Task) error {
			if _, err := t.Ready(ctx); err != nil {
				return err
			}
			if name != "a" {
				defer rest.Done()
			} else {
				rest.Wait() // the others' results are there, or on their way
				nats.servers[0].Shutdown()
			}
			_, err := t.Write(bytes.Repeat([]byte(name), 3<<20))
			return err
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	outcomes, err := c.Do(ctx, sameCommand(awaitMembers(t, c, 3), Command{ID: "1", StartsTogether: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Members() {
		if got := content(t, outcomes[m.ID]); !bytes.Equal(got, bytes.Repeat([]byte(m.Name), 3<<20)) {
			t.Errorf("the result of %s has %d bytes, others than it wrote", m.Name, len(got))
		}
	}
}
