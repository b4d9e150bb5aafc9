package lie

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Rows in line protocol become what the lie says; those of other tables stay.
func TestLines(t *testing.T) {
	const body = "cpu,host=a\\ b usage=1.5,count=2i 10\ncpu,host=c usage=3,count=4i 20\nmem,host=a used=5 10\n"
	for _, c := range []struct {
		name  string
		fates []Fate
		want  string
	}{
		{"keep", []Fate{Keep, Keep}, body},
		{"zero", []Fate{Zero, Keep}, strings.Replace(body, "usage=1.5,count=2i", "usage=0,count=0i", 1)},
		{"drop", []Fate{Drop, Keep}, body[strings.Index(body, "\n")+1:]},
		{"twice", []Fate{Keep, Twice}, strings.Replace(body, "cpu,host=c usage=3,count=4i 20\n", strings.Repeat("cpu,host=c usage=3,count=4i 20\n", 2), 1)},
		{"swap", []Fate{Keep, Swap}, "cpu,host=a\\ b usage=3,count=4i 10\ncpu,host=c usage=1.5,count=2i 20\nmem,host=a used=5 10\n"},
	} {
		p := &proxy{lie: Lie{Store: func(row int64) Fate { return c.fates[row] }}, table: "cpu"}
		if got := string(p.lines([]byte(body))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// COPY's rows come out right however the stream is cut into messages.
func TestCopyStream(t *testing.T) {
	value := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	stream := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	var rows []tuple
	for i := range uint64(20) {
		rows = append(rows, tuple{value(i), {0, 0, 0, 7}, value(100 + i), nil})
		stream = rows[i].append(stream)
	}
	stream = append(stream, 0xff, 0xff)
	fates := map[int64]Fate{3: Zero, 5: Drop, 8: Twice}
	want := append([]byte{}, stream[:copyHeader]...)
	for i, row := range rows {
		switch fates[int64(i)] {
		case Zero:
			row = tuple{row[0], row[1], value(0), nil}
		case Drop:
			continue
		case Twice:
			want = row.append(want)
		}
		want = row.append(want)
	}
	want = append(want, 0xff, 0xff)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		s := &copyStream{dialogue: &dialogue{proxy: &proxy{lie: Lie{Store: func(row int64) Fate { return fates[row] }}}}}
		var got []byte
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(60))
			part, err := s.take(rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			got, rest = append(got, part...), rest[n:]
		}
		if string(got) != string(want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// Answers over HTTP are lied about by their number among those of their kind;
// what tsmark counts and lists is answered honestly.
func TestHTTPAnswers(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprintf(w, `{"results":[{"series":[{"name":"cpu","columns":["time","v"],"values":[[1,%d],[2,5],[3,6]]}]}]}`+"\n", asked)
	}))
	defer server.Close()
	ask := func(g *Group, text string) (first string, rows int) {
		t.Helper()
		r, err := http.Get("http://127.0.0.1:" + g.Port(0) + "/query?" + url.Values{"q": {text}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := json.Unmarshal(body, &document); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		a, err := parseAnswer(body)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.rows) == 0 {
			return "", 0
		}
		return fmt.Sprint(a.rows[0]), len(a.rows)
	}
	for _, c := range []struct {
		lie   Lie
		query string
		want  []int // rows of the first answers
		old   bool  // the last answer is the one before
	}{
		{Lie{}, "SELECT v FROM cpu", []int{3, 3}, false},
		{Lie{Answer: func(nth int64, rows int) []int { return all(rows - int(nth)) }}, "SELECT v FROM cpu", []int{2, 1}, false},
		{Lie{Answer: func(nth int64, rows int) []int { return all(rows - int(nth)) }}, "SELECT count(v) FROM cpu", []int{3, 3}, false},
		{Lie{Answer: func(nth int64, rows int) []int { return all(rows - int(nth)) }}, "SHOW FIELD KEYS FROM cpu", []int{3, 3}, false},
		{Lie{OldAfter: 2}, "SELECT v FROM cpu WHERE time > 5", []int{3, 3, 3}, true},
	} {
		g, err := New(c.lie, "cpu", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		var firsts []string
		for range c.want {
			first, rows := ask(g, c.query)
			got, firsts = append(got, rows), append(firsts, first)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d rows, want %d", c.query, got, c.want)
		}
		if n := len(firsts); (firsts[n-1] == firsts[n-2]) != c.old {
			t.Errorf("%s: answers began with %q", c.query, firsts)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server that speaks before its client is passed on unchanged, and not taken
// for one that was lied about; HTTP is understood.
func TestUnknownProtocol(t *testing.T) {
	greet := func(c net.Conn) { fmt.Fprint(c, "220 ready\r\n") }
	// The request is read whole before it is answered: a connection that is closed
	// on bytes nobody read is reset, and the answer may be lost.
	answer := func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			fmt.Fprint(c, "HTTP/1.0 200 OK\r\n\r\n")
		}
	}
	for _, c := range []struct {
		name       string
		serve      func(net.Conn)
		send, want string
		understood bool
	}{
		{"speaks first", greet, "", "220 ready\r\n", false},
		{"http", answer, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			group, err := New(Zeroes, "cpu", serveEach(t, c.serve))
			if err != nil {
				t.Fatal(err)
			}
			defer group.Close()
			client, err := net.Dial("tcp", "127.0.0.1:"+group.Port(0))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			fmt.Fprint(client, c.send)
			if got, err := io.ReadAll(client); err != nil || !strings.HasPrefix(string(got), c.want) {
				t.Errorf("read %q, %v, want %q", got, err, c.want)
			}
			if got := group.Understands(); got != c.understood {
				t.Errorf("understood: %v, want %v", got, c.understood)
			}
		})
	}
}

// serveEach accepts connections until the test ends, serves each and closes it,
// and returns the address.
func serveEach(t *testing.T, serve func(net.Conn)) string {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			serve(c)
			c.Close()
		}
	}()
	return server.Addr().String()
}
