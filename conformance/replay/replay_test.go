package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// byLine is a protocol of lines. A line that begins with "time" may differ.
type byLine struct{}

func (byLine) Connection() Connection { return byLine{} }

func (byLine) Read(_ Side, stream *bufio.Reader) ([]byte, error) { return stream.ReadBytes('\n') }

func (byLine) Mask(_ Side, message []byte) []byte {
	if bytes.HasPrefix(message, []byte("time ")) {
		return []byte("time *\n")
	}
	return message
}

func (byLine) Answer(recorded, request []byte) []byte {
	if string(recorded) == "time *\n" {
		return request
	}
	return recorded
}

// counting is a server that answers each line with the number of the lines so far of all
// connections, and a line with "time" as it is.
func counting(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var mu sync.Mutex
	n := 0
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					mu.Lock()
					n++
					answer := fmt.Sprintf("%d: %s\n", n, lines.Text())
					mu.Unlock()
					if strings.HasPrefix(lines.Text(), "time") {
						answer = lines.Text() + "\n"
					}
					if _, err := c.Write([]byte(answer)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// client sends lines, and returns the replies.
type client struct {
	net.Conn
	from *bufio.Reader
}

func dial(t *testing.T, to net.Addr) client {
	t.Helper()
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	return client{c, bufio.NewReader(c)}
}

func (c client) say(line string) string {
	if _, err := c.Write([]byte(line + "\n")); err != nil {
		return err.Error()
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	replies, err := c.from.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(replies, "\n")
}

// talk is two connections at once that begin alike.
func talk(t *testing.T, to net.Addr, second string) []string {
	a := dial(t, to)
	replies := []string{a.say("hello"), a.say("time " + time.Now().String()[:27])[:5]}
	b := dial(t, to)
	replies = append(replies, b.say("hello"), b.say("time 1")[:5], b.say(second), a.say(strings.Repeat("a", 5000)))
	_ = b.Close()
	replies = append(replies, a.say("bye"))
	_ = a.Close()
	return replies
}

// recordTalk is a talk, written as text and read again.
func recordTalk(t *testing.T) ([]conversation, []string) {
	t.Helper()
	r, err := listen(byLine{}, []string{counting(t)})
	if err != nil {
		t.Fatal(err)
	}
	replies := talk(t, r.addresses()[0], "b\x00\x00\x01 \\ Ω\t")
	all := r.finish()
	text := render(all)
	again, err := parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !slices.EqualFunc(all, again, func(a, b conversation) bool { return a.port == b.port && slices.Equal(a.messages, b.messages) }) {
		t.Fatalf("read as another recording than was written:\n%s", text)
	}
	return again, replies
}

// replayTalk plays a recording to a client, and returns the problem.
func replayTalk(t *testing.T, recorded []conversation, use func(net.Addr)) string {
	t.Helper()
	var mu sync.Mutex
	var problems []string
	p, err := play(byLine{}, recorded, 1, func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, args...))
	})
	if err != nil {
		t.Fatal(err)
	}
	use(p.addresses()[0])
	p.finish(func() bool { mu.Lock(); defer mu.Unlock(); return len(problems) > 0 })
	return strings.Join(problems, "\n")
}

// A message that is the same as in the recording gets the same answer.
func TestReplay(t *testing.T) {
	all, replies := recordTalk(t)
	var again []string
	if problem := replayTalk(t, all, func(to net.Addr) { again = talk(t, to, "b\x00\x00\x01 \\ Ω\t") }); problem != "" {
		t.Error(problem)
	}
	if !slices.Equal(replies, again) {
		t.Errorf("told %q, recorded %q", again, replies)
	}
}

// The connections may come in the opposite order: each is identified by its messages.
func TestOrder(t *testing.T) {
	same := []conversation{
		{messages: []message{newMessage(Client, []byte("hello\n")), newMessage(Server, []byte("hi\n")), newMessage(Client, []byte("a\n")), newMessage(Server, []byte("A\n"))}},
		{messages: []message{newMessage(Client, []byte("hello\n")), newMessage(Server, []byte("hi\n")), newMessage(Client, []byte("b\n")), newMessage(Server, []byte("B\n"))}},
	}
	problem := replayTalk(t, same, func(to net.Addr) {
		b, a := dial(t, to), dial(t, to)
		b.say("hello")
		a.say("hello")
		if got := b.say("b") + a.say("a"); got != "BA" {
			t.Errorf("told %q", got)
		}
		_, _ = b.Close(), a.Close()
	})
	if problem != "" {
		t.Error(problem)
	}
}

// A single differing byte is a problem, in any message, short or long; so is a missing
// message, and an additional one.
func TestChanged(t *testing.T) {
	all, _ := recordTalk(t)
	for ci, c := range all {
		for mi, m := range c.messages {
			if m.from != Client || strings.HasPrefix(m.body, "time") {
				continue
			}
			changed := slices.Clone(all)
			changed[ci].messages = slices.Clone(c.messages)
			if m.digest != "" {
				changed[ci].messages[mi] = newMessage(Client, []byte(strings.Repeat("a", 4500)+"b"+strings.Repeat("a", 499)+"\n"))
			} else {
				changed[ci].messages[mi].body = string(m.body[0]^1) + m.body[1:]
			}
			if problem := replayTalk(t, changed, func(to net.Addr) { talk2(to) }); !strings.Contains(problem, "replay: conversation") {
				t.Errorf("message %d of conversation %d has another byte: %q", mi, ci, problem)
			}
		}
	}
	for name, use := range map[string]func(net.Addr){
		"never took place":    func(net.Addr) {},
		"one connection more": func(to net.Addr) { talk2(to); talk2(to) },
		"ended after message": func(to net.Addr) { c := dial(t, to); c.say("hello"); _ = c.Close() },
	} {
		if problem := replayTalk(t, all, use); !strings.Contains(problem, name) {
			t.Errorf("problem %q, want %q", problem, name)
		}
	}
}

// talk2 is talk that continues whatever the replies are.
func talk2(to net.Addr) {
	open := func() (client, bool) {
		c, err := net.Dial("tcp", to.String())
		return client{c, bufio.NewReader(c)}, err == nil
	}
	a, ok := open()
	if !ok {
		return
	}
	defer a.Close()
	a.say("hello")
	a.say("time 2")
	b, ok := open()
	if !ok {
		return
	}
	defer b.Close()
	b.say("hello")
	b.say("time 1")
	b.say("b\x00\x00\x01 \\ Ω\t")
	a.say(strings.Repeat("a", 5000))
	_ = b.Close()
	a.say("bye")
}

// The error for a damaged recording names the line.
func TestParseBad(t *testing.T) {
	for text, want := range map[string]string{
		"> 1\n  a\n":                  "line 1: ",
		"== 0\n> 2\n  a\n":            "has 1",
		"== 0\n> 1\n  \\q\n":          `line 3: unknown \q`,
		"== 0\n> #1\n":                "no such message as #1",
		"== 0\n? 1\n":                 "line 2: ",
		"== 0\n> 1\n  \\{9999999999}": "not a number of zero bytes",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAbout(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadAbout(dir); err == nil {
		t.Error("read of nothing")
	}
	want := About{"3.3.0.1", "2026-11-24"}
	if err := os.WriteFile(dir+"/"+aboutFile, []byte(want.text()), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadAbout(dir); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
}

// Frames of a client are read as one message, whatever its key and however it is split.
func TestWebSocket(t *testing.T) {
	w := WebSocket{Mask: func(_ Side, p []byte) []byte { return bytes.ReplaceAll(p, []byte("now"), []byte("*")) }}.Connection()
	request := "GET /ws HTTP/1.1\r\nHost: a:1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	stream := bufio.NewReader(strings.NewReader(request + "\x01\x83\x01\x02\x03\x04" + "\x60\x60\x60" + "\x80\x83\x00\x00\x00\x00now"))
	head, err := w.Read(Client, stream)
	if err != nil || string(head) != request {
		t.Fatalf("%q, %v", head, err)
	}
	if masked := string(w.Mask(Client, head)); masked != "GET /ws HTTP/1.1\r\nHost: *\r\nSec-WebSocket-Key: *\r\n\r\n" {
		t.Errorf("%q", masked)
	}
	// The key and its answer are the example of RFC 6455, section 1.3.
	if answer := string(w.Answer([]byte("HTTP/1.1 101 x\r\nSec-Websocket-Accept: *\r\n\r\n"), head)); !strings.Contains(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") {
		t.Errorf("%q", answer)
	}
	said, err := w.Read(Client, stream)
	if err != nil || string(said) != "text abcnow" || string(w.Mask(Client, said)) != "text abc*" {
		t.Errorf("%q, %v", said, err)
	}
	for _, n := range []int{0, 125, 126, 1 << 16} {
		message := append([]byte("binary "), bytes.Repeat([]byte{7}, n)...)
		back := &webSocket{responseRead: true}
		if got, err := back.Read(Server, bufio.NewReader(bytes.NewReader(w.Answer(message, nil)))); err != nil || !bytes.Equal(got, message) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// Requests and answers of HTTP are whole messages, however their length is encoded.
func TestHTTP(t *testing.T) {
	w := WebSocket{}.Connection()
	requests := []string{
		"POST /rest/sql HTTP/1.1\r\nHost: a:1\r\nContent-Length: 8\r\n\r\nDate: 1\n",
		"GET / HTTP/1.1\r\nHost: a:1\r\n\r\n",
	}
	answers := []string{
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: now\r\n\r\n3\r\nabc\r\nB\r\n0123456789a\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
	}
	for from, texts := range map[Side][]string{Client: requests, Server: answers} {
		stream := bufio.NewReader(strings.NewReader(strings.Join(texts, "")))
		for _, text := range texts {
			got, err := w.Read(from, stream)
			if err != nil || string(got) != text || string(w.Answer(got, nil)) != text {
				t.Errorf("%q, %v, want %q", got, err, text)
			}
		}
	}
	if masked := string(w.Mask(Client, []byte(requests[0]))); masked != strings.Replace(requests[0], "a:1", "*", 1) {
		t.Errorf("%q", masked)
	}
	if masked := string(w.Mask(Server, []byte(answers[0]))); masked != strings.Replace(answers[0], "now", "*", 1) {
		t.Errorf("%q", masked)
	}
	for _, bad := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"} {
		if _, err := w.Read(Server, bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("%q is read whole", bad)
		}
	}
}
