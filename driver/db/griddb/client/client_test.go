package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// Sizes have 1, 4 or 8 bytes, and are read back.
func TestSizes(t *testing.T) {
	for n, length := range map[int]int{0: 1, 1: 1, 127: 1, 128: 4, 1 << 20: 4, 1<<30 - 1: 4, 1 << 30: 8} {
		b := AppendSize(nil, n)
		if got, read := sizeOf(b); len(b) != length || got != n || read != length {
			t.Errorf("%d is written with %d bytes as %x, and read as %d of %d", n, len(b), b, got, read)
		}
	}
}

// The names of containers come back from their keys with upper and lower case, and the
// part that says where they are.
func TestKeys(t *testing.T) {
	for _, name := range []string{"cpu_1", "CPU_Host.17", "a", "A", "Weather-Station/9=x", "cpu@5", "Cpu@Group", strings.Repeat("aB", 300)} {
		for _, database := range []int64{0, 77} {
			r := reader{b: appendKey(nil, database, name)}
			if got := r.key(); got != name || r.err != nil || len(r.b) > 0 {
				t.Errorf("%s of database %d is read as %s, %v, with %d bytes left", name, database, got, r.err, len(r.b))
			}
		}
	}
	// As a server tells: without case, one byte of flags, the name, and which letters are capitals.
	if got, want := appendKey(nil, 0, "aB"), []byte{5<<1 | 1, 0, 2<<1 | 1, 'a', 'b', 2}; !bytes.Equal(got, want) {
		t.Errorf("the key of aB is %v, want %v", got, want)
	}
}

// A container is in the partition that its name in lower case has by CRC-32, or the one
// that it says.
func TestPartitions(t *testing.T) {
	if a, b := Partition("CPU_1", 128), Partition("cpu_1", 128); a != b {
		t.Errorf("%d and %d", a, b)
	}
	if got := Partition("cpu@133", 128); got != 5 {
		t.Errorf("partition %d, want 5", got)
	}
	if a, b := Partition("cpu@Group", 128), Partition("group", 128); a != b {
		t.Errorf("%d and %d", a, b)
	}
	if got := Partition("123456789", 1<<32-1); got != 0xcbf43926 { // what CRC-32 is checked with
		t.Errorf("%x", got)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "A.b-c/d=e_9", "0"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "a b", "ä", "a@b", "a\x00", strings.Repeat("a", MaxName+1)} {
		if CheckName(name) == nil {
			t.Errorf("%.10q is a name", name)
		}
	}
}

// The answer to a challenge is HTTP's digest, beside a salted hash.
func TestChallenge(t *testing.T) {
	got := answer("admin", "admin", "nonce", "00000001", "salt", "cnonce")
	if !strings.HasPrefix(got, "#1#") || len(got) != 3+32+1+64 || got != answer("admin", "admin", "nonce", "00000001", "salt", "cnonce") {
		t.Errorf("%s", got)
	}
	if got == answer("admin", "other", "nonce", "00000001", "salt", "cnonce") {
		t.Error("another password has the same answer")
	}
}

// Where the server challenges the client, the password does not go over the wire.
func TestLoginByChallenge(t *testing.T) {
	logins := 0
	s := serve(t, func(r *request) [][]byte {
		switch r.statement {
		case stmtConnect:
			return [][]byte{r.reply(0, []byte{authChallenge}, ints(protocolVersion))}
		case stmtLogin:
			logins++
			r.take(int(r.int())) // options
			user, secret := r.string(), r.string()
			r.int()
			r.bool()
			r.string()
			mode, challenged := r.byte(), r.bool()
			if user != "me" || mode != authChallenge || challenged != (logins == 2) {
				t.Errorf("login %d of %s by way %d, challenged %v", logins, user, mode, challenged)
			}
			if logins == 1 {
				if secret != "" {
					t.Errorf("the client says %q before it is challenged", secret)
				}
				return [][]byte{r.reply(0, []byte{authChallenge, 1}, texts("n", "1", "o", "salt"))}
			}
			opaque, own := r.string(), r.string()
			if want := answer("me", "secret", "n", "1", "salt", own); opaque != "o" || secret != want {
				t.Errorf("the client answers %s, want %s", secret, want)
			}
			return [][]byte{r.reply(0, []byte{authChallenge, 0}, longs(3))}
		}
		return nil
	})
	c, database, err := dial(t.Context(), Config{User: "me", Password: "secret", Timeout: 5 * time.Second, MaxMessage: 1 << 20, Dial: dialer}, s.address())
	if err != nil || database != 3 || logins != 2 {
		t.Fatalf("database %d after %d logins: %v", database, logins, err)
	}
	c.close()
}

// What a server says of a failure is in the error, with its number.
func TestErrors(t *testing.T) {
	s := session(t, 4, func(r *request) [][]byte {
		return [][]byte{r.reply(resultFailed, says(CodeContainerNotFound, "it is\nnot there"))}
	})
	_, err := s.PutContainer(t.Context(), Container{Name: "x", Columns: []Column{{Name: "a", Type: Long, NotNull: true}}, Keys: 1})
	if said := AsError(err); said == nil || said.Code != CodeContainerNotFound || !strings.Contains(err.Error(), "it is not there (error 10016)") {
		t.Errorf("%v", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("the session is broken: %v", err)
	}
}

// columns of every type.
func columns() []Column {
	return []Column{
		{"time", Timestamp, true}, {"text", String, false}, {"bool", Bool, false}, {"byte", Byte, false}, {"short", Short, false}, {"int", Integer, false},
		{"long", Long, false}, {"float", Float, false}, {"double", Double, false}, {"blob", Blob, false}, {"micro", MicroTimestamp, false}, {"nano", NanoTimestamp, false},
	}
}

// everything is a row of such columns.
func everything(n int64) []any {
	at := time.Unix(n, 123456789)
	return []any{at, fmt.Sprint("text ", n), true, n - 3, -n, n, n << 40, float64(n) / 2, math.Pi * float64(n), []byte{0, byte(n)}, at, at}
}

// Rows of every type are read as they were put, NULLs too, over pages, whatever the order
// in which the server answers.
func TestRows(t *testing.T) {
	stored := map[int][]byte{} // by partition: the rows as they came
	var put []uint64           // numbers of rows
	var late [][]byte
	s := session(t, 4, func(r *request) [][]byte {
		switch r.statement {
		case stmtPutContainer:
			return [][]byte{r.reply(0, ints(0), longs(uint64(100+r.partition)))}
		case stmtPutRows:
			r.take(16)
			r.take(int(r.int()))
			if n := r.int(); n != 1 {
				t.Errorf("%d schemas", n)
			}
			if kind := Kind(r.byte()); kind != TimeSeries {
				t.Errorf("a container of type %d", kind)
			}
			if got, keys := r.schema(); !slices.Equal(got, columns()) || keys != 1 {
				t.Errorf("the schema %v", got)
			}
			if n := r.int(); n != 1 {
				t.Errorf("%d containers", n)
			}
			r.take(8 + 8 + 8 + 2 + 4 + 4)
			size := r.int()
			n := uint64(r.long())
			put = append(put, n)
			stored[r.partition] = append([]byte{}, r.take(int(size)-8)...)
			if len(r.b) > 0 || r.err != nil {
				t.Errorf("%d bytes behind the rows, %v", len(r.b), r.err)
			}
			return [][]byte{r.reply(0)}
		case stmtQueryTQL: // answered in the reverse order, two at a time
			body := append(longs(3), stored[r.partition]...)
			late = append(late, r.reply(0, ints(1), []byte{resultRows}, ints(uint32(len(body))), body))
			if len(late) < 2 {
				return nil
			}
			slices.Reverse(late)
			defer func() { late = nil }()
			return late
		}
		t.Errorf("statement %d", r.statement)
		return nil
	})
	p := s.Pipeline()
	made := []*Container{{Name: "a@0", Type: TimeSeries, Columns: columns(), Keys: 1}, {Name: "b@1", Type: TimeSeries, Columns: columns(), Keys: 1}}
	for _, c := range made {
		p.Create(c)
	}
	if err := p.Run(t.Context(), func(_ int, a *Answer) error { return a.Err }); err != nil {
		t.Fatal(err)
	}
	null := append([]any{time.Unix(9, 0)}, make([]any, len(columns())-1)...)
	for i, c := range made {
		if c.ID != int64(100+i) || c.Partition != i {
			t.Fatalf("%+v", c)
		}
		p.Put(c, everything(int64(1+i)), null, everything(3))
	}
	if err := p.Run(t.Context(), func(_ int, a *Answer) error { return a.Err }); err != nil {
		t.Fatal(err)
	}
	for _, c := range made {
		p.Query(c, "SELECT *", 0)
	}
	came := [2]int{}
	err := p.Run(t.Context(), func(i int, a *Answer) error {
		if a.Err != nil {
			return a.Err
		}
		for n := int64(0); a.Rows.Next(); n++ {
			came[i]++
			r := a.Rows
			if n == 1 {
				for c := 1; c < len(columns()); c++ {
					if !r.Null(c) {
						t.Errorf("column %d of the second row is not NULL", c)
					}
				}
				continue
			}
			want := everything([]int64{int64(1 + i), 0, 3}[n])
			at := want[0].(time.Time)
			got := []any{time.UnixMilli(r.Int(0)), string(r.Text(1)), r.Int(2) == 1, r.Int(3), r.Int(4), r.Int(5), r.Int(6), r.Float(7), r.Float(8), r.Text(9), time.UnixMicro(r.Int(10)), time.Unix(0, r.Int(11))}
			want[0], want[10] = at.Truncate(time.Millisecond), at.Truncate(time.Microsecond)
			for c := range want {
				if fmt.Sprint(got[c]) != fmt.Sprint(want[c]) || r.Null(c) {
					t.Errorf("column %s of row %d is %v, want %v", columns()[c].Name, n, got[c], want[c])
				}
			}
		}
		return a.Rows.Err()
	})
	if err != nil || came != [2]int{3, 3} {
		t.Errorf("%v rows: %v", came, err)
	}
}

// TestPages checks that all pages of a result are read, and that its cost counts once.
func TestPages(t *testing.T) {
	of := &Container{Name: "a@2", Partition: 2, ID: 9, Type: TimeSeries, Columns: []Column{{"time", Timestamp, true}, {"v", Long, false}}, Keys: 1}
	layout := NewLayout(of.Columns)
	page := func(from, n int) []byte {
		rows, at := layout.Extend(nil, n)
		for i := range n {
			binary.LittleEndian.PutUint64(rows[at+i*layout.Size+layout.Offset(1):], uint64(from+i))
		}
		return rows
	}
	s := session(t, 4, func(r *request) [][]byte {
		switch r.statement {
		case stmtQueryTQL:
			body := append(longs(3), page(0, 3)...)
			return [][]byte{r.reply(0, ints(2), []byte{resultPage}, ints(24), longs(8, 55, 0), []byte{resultRows}, ints(uint32(len(body))), body)}
		case stmtFetchRowSet:
			r.take(8 + 8 + 16 + 4 + 2 + 4)
			if set, from, n := r.long(), r.long(), r.long(); set != 55 || n != 3 {
				t.Errorf("row set %d from %d, %d rows", set, from, n)
			} else {
				rows := min(3, 8-int(from))
				return [][]byte{r.reply(0, []byte{byte(boolean(from+int64(rows) == 8))}, longs(0, uint64(rows)), page(int(from), rows))}
			}
		}
		return nil
	})
	var got []int64
	p := s.Pipeline()
	p.Query(of, "SELECT *", 3)
	err := p.Run(t.Context(), func(_ int, a *Answer) error {
		for a.Err == nil && a.Rows.Next() {
			got = append(got, a.Rows.Int(1))
		}
		return a.Err
	})
	if err != nil || !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("%v, %v", got, err)
	}
}

func boolean(v bool) int {
	if v {
		return 1
	}
	return 0
}

// TestRefusedAnswer checks that an error from take ends a pipeline, and that the session remains
// usable.
func TestRefusedAnswer(t *testing.T) {
	s := session(t, 4, func(r *request) [][]byte {
		return [][]byte{r.reply(0, ints(1), []byte{resultAggregate}, ints(17), longs(1), []byte{byte(Long)}, longs(42))}
	})
	of := &Container{Name: "a@1", Partition: 1}
	p := s.Pipeline()
	p.Window = 2
	for range 50 {
		p.Query(of, "SELECT COUNT(*)", 0)
	}
	enough := errors.New("enough")
	calls := 0
	err := p.Run(t.Context(), func(int, *Answer) error {
		calls++
		return enough
	})
	if !errors.Is(err, enough) || calls != 1 || s.Err() != nil {
		t.Errorf("%v after %d answers, the session: %v", err, calls, s.Err())
	}
	p.Query(of, "SELECT COUNT(*)", 0)
	err = p.Run(t.Context(), func(_ int, a *Answer) error {
		if a.Value == nil || a.Value.Int != 42 {
			t.Errorf("%+v", a.Value)
		}
		return a.Err
	})
	if err != nil {
		t.Error(err)
	}
}

// The rows of several containers are counted by each of them, also where one has none.
func TestCountRows(t *testing.T) {
	counts := map[int64]uint64{1: 42, 2: 0, 3: 8} // by the container's id
	s := session(t, 4, func(r *request) [][]byte {
		return [][]byte{r.reply(0, ints(1), []byte{resultAggregate}, ints(17), longs(1), []byte{byte(Long)}, longs(counts[r.long()]))}
	})
	n, err := s.CountRows(t.Context(), []Container{{Name: "a", ID: 1}, {Name: "b", ID: 2}, {Name: "c", ID: 3}}, 2)
	if err != nil || n != 50 {
		t.Errorf("%d rows, %v; 50 expected", n, err)
	}
}

// TestNoGridDB checks that a response in another protocol ends a connection with a one-line error.
func TestNoGridDB(t *testing.T) {
	for name, say := range map[string]func(r *request) [][]byte{
		"HTTP":           func(*request) [][]byte { return [][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")} },
		"a huge message": func(r *request) [][]byte { m := r.reply(0); copy(m[16:], ints(1<<31)); return [][]byte{m} },
		"another id":     func(r *request) [][]byte { r.id += 5; return [][]byte{r.reply(0, []byte{0}, ints(15))} },
		"a short answer": func(r *request) [][]byte { return [][]byte{r.reply(0)[:headerSize+9]} },
		"no such result": func(r *request) [][]byte { return [][]byte{r.reply(9)} },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, say)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := Open(ctx, Config{Members: []string{s.address()}, User: "admin", Timeout: 5 * time.Second})
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A server that falls silent is waited for no longer than the time-out, and a context
// ends the wait.
func TestSilence(t *testing.T) {
	silent := session(t, 4, func(*request) [][]byte { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := silent.Containers(ctx, "x")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 4*time.Second || silent.Err() == nil {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// Members come from a provider.
func TestProvider(t *testing.T) {
	var s *stub
	s = serve(t, welcome(t, func() string { return s.address() }, 2, func(*request) [][]byte { return nil }))
	host, port, _ := strings.Cut(s.address(), ":")
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[{"cluster":{"address":"10.0.0.1","port":10010},"transaction":{"address":%q,"port":%s}}]`, host, port)
	}))
	defer provider.Close()
	c, err := Open(t.Context(), Config{Provider: provider.URL, User: "admin", Timeout: 5 * time.Second})
	if err != nil || c.Partitions() != 2 {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "[]", `{"a":1}`, `[{"transaction":{"address":"","port":1}}]`} {
		if list, err := parseMembers([]byte(text), serviceTransaction); err == nil {
			t.Errorf("%q has the members %v", text, list)
		}
	}
}
