package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
)

const token = "a-token-of-tests-0123"

// agentID is the process of an agent.
const agentID = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// startServer starts a server.
func startServer(t *testing.T, access Access) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{Listen: "127.0.0.1:0", Access: access})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// passes fails unless two clients can exchange messages through a server.
func passes(t *testing.T, s *Server, access Access) {
	t.Helper()
	inside, err := s.Connect(t.Context(), "inside", "")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	outside, err := Remote{URL: s.URL(), Access: access}.Connect(t.Context(), "outside", agentID)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	if exists, known := s.IsConnected("outside"); !exists || !known {
		t.Error("the server does not know the connection")
	}
	if exists, known := s.IsConnected("nobody"); exists || !known {
		t.Error("the server knows a connection of nobody's")
	}
	got, err := outside.SubscribeSync("tsmark.pulse.x")
	if err != nil || outside.Flush() != nil {
		t.Fatal("cannot subscribe")
	}
	if err := inside.Publish("tsmark.pulse.x", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if m, err := got.NextMsg(5 * time.Second); err != nil || string(m.Data) != "hello" {
		t.Errorf("%v, %v", m, err)
	}
}

// expectRefusal fails unless a client is refused with an error of one line that contains the text.
func expectRefusal(t *testing.T, url string, access Access, want string) {
	t.Helper()
	c, err := Remote{URL: url, Access: access}.Connect(t.Context(), "outside", agentID)
	if err == nil {
		c.Close()
		t.Errorf("it is let in; want: %s", want)
		return
	}
	if !strings.Contains(err.Error(), want) || errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), token) {
		t.Errorf("%q; want: %s", err, want)
	}
}

// Without a token every client on loopback is accepted; with one, only clients that have it.
func TestToken(t *testing.T) {
	passes(t, startServer(t, Access{}), Access{})
	s := startServer(t, Access{Token: token})
	passes(t, s, Access{Token: token})
	expectRefusal(t, s.URL(), Access{}, "is not trusted")
	expectRefusal(t, s.URL(), Access{Token: "another-token-0123456"}, "does not know the token, so tsmark did not send it")
	if strings.Contains(s.URL(), token) {
		t.Error("the URL has the token")
	}
}

// With a certificate connections are encrypted, and with a CA for clients only its certificates are
// accepted.
func TestEncrypted(t *testing.T) {
	// Each certificate is self-signed, so it also serves as its CA.
	cert, key := stub.Certificate(t)
	own, ownKey := stub.Certificate(t)
	wrong, wrongKey := stub.Certificate(t)

	s := startServer(t, Access{Token: token, Cert: cert, Key: key})
	if !strings.HasPrefix(s.URL(), "tls://") {
		t.Error(s.URL())
	}
	passes(t, s, Access{Token: token, CA: cert})
	expectRefusal(t, s.URL(), Access{Token: token, CA: wrong}, "is not trusted")
	expectRefusal(t, s.URL(), Access{Token: token}, "does not know the token")
	expectRefusal(t, s.URL(), Access{CA: cert, Token: "another-token-0123456"}, "does not accept the token")
	expectRefusal(t, s.URL(), Access{CA: cert}, "does not accept the token")

	mutual := startServer(t, Access{Cert: cert, Key: key, CA: own})
	passes(t, mutual, Access{CA: cert, Cert: own, Key: ownKey})
	expectRefusal(t, mutual.URL(), Access{CA: cert}, "pass the certificate and key that it requires")
	expectRefusal(t, mutual.URL(), Access{CA: cert, Cert: wrong, Key: wrongKey}, "pass the certificate and key that it requires")

	plain := startServer(t, Access{})
	expectRefusal(t, plain.URL(), Access{CA: cert}, "does not encrypt, but a certificate was passed")
	expectRefusal(t, strings.Replace(plain.URL(), "nats:", "tls:", 1), Access{}, "does not encrypt, which tls:// requires")
}

// A server that impersonates the coordinator does not learn the token: neither without encryption,
// nor with an arbitrary certificate.
func TestImpostor(t *testing.T) {
	cert, key := stub.Certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for name, encrypts := range map[string]bool{"plain": false, "encrypted": true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		heard := make(chan string, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"proto\":1,\"max_payload\":1048576,\"tls_required\":%v}\r\n", encrypts)
			if encrypts {
				conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}})
			}
			text, _ := io.ReadAll(conn)
			heard <- string(text)
		}()
		want := "cannot prove that it knows the token, and tsmark did not send it"
		if encrypts {
			want = "does not know the token, so tsmark did not send it"
		}
		expectRefusal(t, "nats://"+l.Addr().String(), Access{Token: token}, want)
		if text := <-heard; strings.Contains(text, token) || strings.Contains(text, "CONNECT") {
			t.Errorf("%s: it heard %q", name, text)
		}
	}
}

// An agent can use only its own subjects: it cannot read or send the commands of others, answer or
// publish in their place, or act as the coordinator.
func TestSubjects(t *testing.T) {
	const other = "ZYXWVUTSRQPONMLKJIHGFEDCBA"
	s := startServer(t, Access{Token: token})
	inside, err := s.Connect(t.Context(), "inside", "")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	everything, err := inside.SubscribeSync(">")
	if err != nil || inside.Flush() != nil {
		t.Fatal("cannot subscribe")
	}
	outside, err := Remote{URL: s.URL(), Access: Access{Token: token}}.Connect(t.Context(), "outside", agentID)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	for _, subject := range []string{"tsmark.join." + other, "tsmark.coordinator.c." + other + ".m.beat", "tsmark.agent." + other + ".m.do", "tsmark.pulse.c", "_INBOX." + other + ".x", "$SYS.REQ.SERVER.PING", "$JS.API.INFO", "x"} {
		if err := outside.Publish(subject, []byte("refused")); err != nil {
			t.Fatal(err)
		}
	}
	if err := outside.Publish("tsmark.join."+agentID, []byte("taken")); err != nil || outside.Flush() != nil {
		t.Fatal("cannot publish")
	}
	if m, err := everything.NextMsg(5 * time.Second); err != nil || string(m.Data) != "taken" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, subject := range []string{"tsmark.agent." + other + ".>", "tsmark.agent.>", "tsmark.coordinator.>", "tsmark.join.*", "_INBOX.>", ">"} {
		got, err := outside.SubscribeSync(subject)
		if err != nil || outside.Flush() != nil {
			t.Fatal("cannot subscribe")
		}
		if err := inside.Publish(strings.NewReplacer(">", "x", "*", "x").Replace(subject), nil); err != nil || inside.Flush() != nil {
			t.Fatal("cannot publish")
		}
		if m, err := got.NextMsg(20 * time.Millisecond); err == nil {
			t.Errorf("it hears %s", m.Subject)
		}
	}
	if c, err := (Remote{URL: s.URL(), Access: Access{Token: token}}).Connect(t.Context(), "outside", "*"); err == nil {
		c.Close()
		t.Error("an agent may be everybody")
	}
}

// Invalid options are refused before the server listens, in a line that says how to fix them.
func TestRefusedOptions(t *testing.T) {
	cert, key := stub.Certificate(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"no port":           {Options{Listen: "127.0.0.1"}, "is not an address; write HOST:PORT, such as 127.0.0.1:4222"},
		"open to all":       {Options{Listen: "0.0.0.0:0"}, "0.0.0.0:0 can be reached from other machines; use a token, or certificates"},
		"by name":           {Options{Listen: "bench.example.org:4222"}, "can be reached from other machines"},
		"only encrypted":    {Options{Listen: ":0", Access: Access{Cert: cert, Key: key}}, "can be reached from other machines"},
		"short token":       {Options{Listen: ":0", Access: Access{Token: "short"}}, "the token is too short"},
		"half":              {Options{Listen: "127.0.0.1:0", Access: Access{Cert: cert}}, "belong together"},
		"no certificate":    {Options{Listen: "127.0.0.1:0", Access: Access{CA: cert}}, "needs one itself"},
		"credentials":       {Options{Listen: "127.0.0.1:0", Access: Access{Credentials: "x.creds"}}, "for an existing NATS server"},
		"no such file":      {Options{Listen: "127.0.0.1:0", Access: Access{Cert: "none.pem", Key: "none.key"}}, "reading the certificate none.pem"},
		"not a certificate": {Options{Listen: "127.0.0.1:0", Access: Access{Cert: cert, Key: key, CA: key}}, "has no certificate in PEM"},
		"taken":             {Options{Listen: taken.Addr().String()}, "choose another port"},
	} {
		s, err := Start(t.Context(), c.options)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want: %s", name, err, c.want)
		}
	}
}

func TestRefusedURLs(t *testing.T) {
	for url, want := range map[string]string{
		"":                             "is nats://HOST:PORT",
		"coordinator:4222":             "is nats://HOST:PORT",
		"http://coordinator:4222":      "is nats://HOST:PORT",
		"nats://":                      "is nats://HOST:PORT",
		"nats://" + token + "@h:4222":  "has no user or token in it",
		"nats://h:4222/x":              "ends with its port",
		"nats://h:4222,http://h2:4222": "is nats://HOST:PORT",
		"nats://h:4222":                "the server at nats://h:4222 could be anyone's",
		"nats://127.0.0.1:1,nats://h":  "the server at nats://h could be anyone's",
	} {
		err := Remote{URL: url}.Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v; want: %s", url, err, want)
		}
	}
	for _, url := range []string{"nats://127.0.0.1:4222", "tls://h:4222", "nats://localhost:4222,nats://[::1]:4222", "tls://a,tls://b"} {
		if err := (Remote{URL: url}).Check(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, access := range []Access{{Token: token}, {CA: "x"}, {Insecure: true}} {
		if err := (Remote{URL: "nats://h:4222", Access: access}).Check(); err != nil {
			t.Errorf("%+v: %v", access, err)
		}
	}
}

// An unreachable server is a different error from a refusal: it may be temporary.
func TestUnreachable(t *testing.T) {
	s := startServer(t, Access{})
	url := s.URL()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := (Remote{URL: url}).Connect(t.Context(), "x", agentID); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Remote{URL: url}).Connect(ctx, "x", agentID); err == nil {
		t.Error("connected after the end")
	}
}
