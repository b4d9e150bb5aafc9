//go:build !light

package external_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// misbehave is a program that does not keep to the protocol.
func misbehave(how string) {
	at := strings.TrimPrefix(os.Args[2], "unix://")
	switch how {
	case "exits":
		fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nModuleNotFoundError: No module named 'nodb'")
		os.Exit(3)
	case "silent":
		select {}
	}
	listener, err := net.Listen("unix", at)
	if err != nil {
		panic(err)
	}
	switch how {
	case "mute": // takes connections and says nothing
		select {}
	case "http":
		for {
			conn, err := listener.Accept()
			if err != nil {
				panic(err)
			}
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
			conn.Close()
		}
	}
	s := grpc.NewServer()
	how, exchanges := strings.CutPrefix(how, "exchange-")
	flight.RegisterFlightServiceServer(s, &liar{how: how, exchanges: exchanges})
	panic(s.Serve(listener))
}

// liar answers like a driver, except in one way.
type liar struct {
	flight.BaseFlightServer
	how       string
	exchanges bool
}

// DoAction implements flight.FlightServer.
func (l *liar) DoAction(a *flight.Action, to flight.FlightService_DoActionServer) error {
	body := "{}"
	switch a.Type {
	case message.ActionCapabilities:
		c := message.Capabilities{Protocol: 1, Name: "liar", Caps: &message.Caps{Language: "SQL"}}
		switch l.how {
		case "version":
			c.Protocol = 2
		case "refuses-version":
			return status.Error(codes.InvalidArgument, "this driver speaks version 7")
		case "name":
			c.Name = "My Database\x1b[2J"
		case "type":
			c.Options = []message.Option{{Name: "level", Type: "enum"}}
		case "reserved":
			c.Options = []message.Option{{Name: "command"}}
		case "json":
			return to.Send(&flight.Result{Body: []byte("<html>")})
		case "nothing":
			return nil
		}
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		body = string(text)
	case message.ActionCaps:
		body = `{"language":"SQL"}`
	case message.ActionOpen:
		body = `{"db":"1"}`
		if l.exchanges {
			body = `{"db":"1","functions":["exchange"]}`
		}
	case message.ActionDescribe:
		switch l.how {
		case "crash":
			fmt.Fprintln(os.Stderr, "terminate called after throwing an instance of 'std::bad_alloc'")
			os.Exit(134)
		case "long-error":
			return status.Error(codes.Unknown, strings.Repeat("no\n", 10_000))
		}
	case message.ActionFlush:
		switch l.how {
		case "flush-hangs":
			<-to.Context().Done()
			return to.Context().Err()
		case "flush-refuses":
			return status.Error(codes.ResourceExhausted, "too many requests")
		case "flush-loses-database":
			return status.Error(codes.Unavailable, "connection to the database lost")
		case "flush-miscounts":
			body = `{"rows":-5}`
		}
	case message.ActionRender:
		if l.how == "unsupported" {
			return status.Error(codes.Unimplemented, "it has no window functions")
		}
		body = `{"text":"SELECT 1"}`
	}
	return to.Send(&flight.Result{Body: []byte(body)})
}

// DoGet implements flight.FlightServer.
func (l *liar) DoGet(_ *flight.Ticket, to flight.FlightService_DoGetServer) error { return l.get(to) }

// DoExchange implements flight.FlightServer.
func (l *liar) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	return l.get(stream)
}

func (l *liar) get(to interface {
	flight.DataStreamWriter
	Context() context.Context
}) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	w := flight.NewRecordWriter(to, ipc.WithSchema(schema))
	switch l.how {
	case "large":
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", 33<<20))
		return w.WriteWithAppMetadata(b.NewRecordBatch(), []byte(`{"rows":1}`))
	case "unfinished":
		b.Field(0).(*array.StringBuilder).Append("x")
		return w.Write(b.NewRecordBatch())
	case "miscounts":
		b.Field(0).(*array.StringBuilder).Append("x")
		return w.WriteWithAppMetadata(b.NewRecordBatch(), []byte(`{"rows":2}`))
	case "garbage":
		return to.Send(&flight.FlightData{DataHeader: []byte("garbage that is not a message of Arrow"), DataBody: make([]byte, 64)})
	}
	<-to.Context().Done()
	return nil
}

// DoPut implements flight.FlightServer.
func (l *liar) DoPut(in flight.FlightService_DoPutServer) error {
	for {
		data, err := in.Recv()
		if err != nil {
			return err
		}
		if len(data.AppMetadata) == 0 {
			continue
		}
		switch l.how {
		case "flush-hangs", "flush-refuses", "flush-loses-database", "flush-miscounts":
			if err := in.Send(&flight.PutResult{AppMetadata: []byte(`{"batch":1}`)}); err != nil {
				return err
			}
		case "crash-writing":
			os.Exit(9)
		case "other-receipt":
			if err := in.Send(&flight.PutResult{AppMetadata: []byte(`{"batch":99,"rows":1}`)}); err != nil {
				return err
			}
		case "refuses":
			return status.Error(codes.ResourceExhausted, "too many requests")
		case "loses-database":
			return status.Error(codes.Unavailable, "connection to the database lost")
		}
	}
}

// find starts the program that misbehaves, with a short limit if the test waits for its end.
func find(t *testing.T, how string) (driver.Driver, error) {
	t.Helper()
	programs := &external.Programs{Start: 30 * time.Second, Receipt: 30 * time.Second}
	switch how {
	case "silent", "mute", "http":
		programs.Start = time.Second
	case "no-receipt", "flush-hangs":
		programs.Receipt = time.Second
	}
	t.Cleanup(programs.Close)
	return programs.Driver().Program(map[string]string{external.OptionCommand: "'" + os.Args[0] + "' " + served + " " + how, "password": "hunter22"})
}

// says checks that an error is one short line with the parts.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %q", parts)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\x1b") || len(text) > 2500 || strings.Contains(text, "goroutine") {
		t.Errorf("not a short line: %q", text)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// A program that cannot be used is refused in one line, which says how to fix it.
func TestUnusablePrograms(t *testing.T) {
	for how, want := range map[string]string{
		"exits":           "the program ended (exit status 3); its last line of output: ModuleNotFoundError: No module named 'nodb'",
		"silent":          "no answer within 1s",
		"mute":            "no answer within 1s",
		"http":            "it must serve Arrow Flight at the address behind --listen",
		"version":         "it speaks version 2 of the protocol, and this tsmark speaks version 1; use a version of the driver for it",
		"refuses-version": "it refuses version 1 of the protocol, which this tsmark speaks: this driver speaks version 7",
		"name":            `its name "My Database\x1b[2J" must be letters, digits, _ and -`,
		"type":            `option level has the unknown type "enum"`,
		"reserved":        "option command is tsmark's own; choose another name",
		"json":            "the result of action capabilities is not the expected JSON",
		"nothing":         "action capabilities has no result",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d, err := find(t, how)
			says(t, err, "driver ", how, want)
			for _, o := range d.Options {
				if o.Name == "password" && o.Secret {
					return
				}
			}
			t.Error("an option of an unknown driver may be a secret")
		})
	}
}

// Wrong options are refused in one line.
func TestOptions(t *testing.T) {
	long := t.TempDir() + "/" + strings.Repeat("x", 100)
	if err := os.Mkdir(long, 0o777); err != nil {
		t.Fatal(err)
	}
	script := t.TempDir() + "/program"
	if err := os.WriteFile(script, []byte("print(1)\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options map[string]string
		temp    string
		want    string
	}{
		"none":          {map[string]string{}, "", "give command=PROGRAM, which tsmark starts, or endpoint=grpc://HOST:PORT"},
		"both":          {map[string]string{"command": "a", "endpoint": "b"}, "", "exclude each other"},
		"quotes":        {map[string]string{"command": "a 'b"}, "", "a quotation mark ' is not closed"},
		"missing":       {map[string]string{"command": "./no-such-program"}, "", "cannot find the program ./no-such-program"},
		"executable":    {map[string]string{"command": script}, "", "is not executable; run chmod +x"},
		"endpoint":      {map[string]string{"endpoint": "http://x"}, "", `endpoint "http://x" must be grpc://HOST:PORT`},
		"token":         {map[string]string{"endpoint": "grpc://127.0.0.1:1", "token_file": "missing"}, "", "token_file: open missing"},
		"nobody":        {map[string]string{"endpoint": "grpc://127.0.0.1:1"}, "", "cannot be reached: no answer within 1s"},
		"long folder":   {map[string]string{"command": os.Args[0]}, long, "set TMPDIR to a folder with a shorter path"},
		"token, no end": {map[string]string{"command": "a", "token_file": "f"}, "", "token_file is for an endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.temp != "" {
				t.Setenv("TMPDIR", c.temp)
			}
			programs := &external.Programs{Start: time.Second}
			defer programs.Close()
			_, err := programs.Driver().Program(c.options)
			says(t, err, "driver ", c.want)
		})
	}
}

// openLiar opens a database of a program that misbehaves later.
func openLiar(t *testing.T, how string) (driver.Driver, driver.DB) {
	t.Helper()
	d, err := find(t, how)
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return d, db
}

// A program that misbehaves while a database is open ends the operation with one line.
func TestOperationsThatFail(t *testing.T) {
	request := func(d driver.Driver) (driver.Request, error) {
		return d.Render(&query.Query{Type: "q", Shape: query.PromQL{Expr: "up"}}, nil, nil)
	}
	run := func(sink query.Sink) func(d driver.Driver, db driver.DB) error {
		return func(d driver.Driver, db driver.DB) error {
			r, err := request(d)
			if err != nil {
				return err
			}
			q, err := db.NewQuerier(t.Context(), 0)
			if err != nil {
				return err
			}
			defer q.Close()
			_, err = q.Do(t.Context(), r, sink)
			return err
		}
	}
	describe := func(_ driver.Driver, db driver.DB) error {
		_, err := db.Describe(t.Context())
		return err
	}
	writeTo := func(db driver.DB, flush bool) error {
		w, err := db.NewWriter(t.Context(), 0)
		if err != nil {
			return err
		}
		defer w.Close()
		table := &series.Table{Name: "t", Fields: []series.Field{{Name: "f", Type: series.Int}}}
		var b series.Batch
		run := b.Add(table)
		run.Grow(1)
		run.Series[0], run.Times[0], run.Columns[0].Ints[0] = 0, 1, 1
		if _, err = w.Write(t.Context(), &b); err == nil && flush {
			_, err = w.Flush(t.Context())
		}
		return err
	}
	write := func(_ driver.Driver, db driver.DB) error { return writeTo(db, false) }
	flush := func(_ driver.Driver, db driver.DB) error { return writeTo(db, true) }
	rows := new(query.Answer)
	for how, c := range map[string]struct {
		do   func(driver.Driver, driver.DB) error
		want string
	}{
		"crash":       {describe, "the program ended (exit status 134); its last line of output: terminate called"},
		"long-error":  {describe, "no no no"},
		"unsupported": {run(rows), "not supported: it has no window functions"},
		"large":       {run(rows), "sent a message of more than 32 MiB; it must send smaller record batches"},
		"unfinished":  {run(rows), "the answer ended after 1 rows without the metadata of its last message"},
		"miscounts":   {run(rows), "the answer has 1 rows, and its last message announces 2"},
		"garbage":     {run(rows), "sent malformed Arrow data"},

		"exchange-unfinished": {run(rows), "the answer ended after 1 rows without the metadata of its last message"},
		"exchange-miscounts":  {run(rows), "the answer has 1 rows, and its last message announces 2"},
		"exchange-garbage":    {run(rows), "sent malformed Arrow data"},
		"exchange-large":      {run(rows), "sent a message of more than 32 MiB; it must send smaller record batches"},

		"crash-writing":  {write, "the program ended (exit status 9)"},
		"other-receipt":  {write, "batch 1 has the receipt of batch 99"},
		"no-receipt":     {write, "no receipt for a batch within 1s"},
		"refuses":        {write, "too many requests"},
		"loses-database": {write, "connection to the database lost"},

		"flush-hangs":          {flush, "driver liar: no answer to action flush within 1s"},
		"flush-refuses":        {flush, "too many requests"},
		"flush-loses-database": {flush, "connection to the database lost"},
		"flush-miscounts":      {flush, "driver liar: the receipt of action flush has -5 rows"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d, db := openLiar(t, how)
			err := c.do(d, db)
			says(t, err, c.want)
			refuses, loses := strings.HasSuffix(how, "refuses"), strings.HasSuffix(how, "loses-database")
			if temporary := driver.AsTemporary(err); (temporary != nil) != (refuses || loses) || temporary != nil && temporary.Refused != refuses {
				t.Errorf("%v: temporary %+v", err, temporary)
			}
		})
	}
}

// A query ends with its context, whatever the program does.
func TestCancelledQuery(t *testing.T) {
	for _, how := range []string{"hangs", "exchange-hangs"} {
		t.Run(how, func(t *testing.T) { cancelQuery(t, how) })
	}
}

func cancelQuery(t *testing.T, how string) {
	d, db := openLiar(t, how)
	r, err := d.Render(&query.Query{Type: "q", Shape: query.PromQL{Expr: "up"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := q.Do(ctx, r, nil); !strings.Contains(fmt.Sprint(err), "deadline exceeded") {
		t.Error(err)
	}
}

// A program that has ended starts again while its earlier database is in use. There is no race, and the earlier
// database is not taken for a later one with the same handle.
func TestStartsAgain(t *testing.T) {
	d := serveDriver(t, "sqlite")
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func() driver.DB {
		db, err := d.Open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, options)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	for range 3 {
		db := open()
		var describing sync.WaitGroup
		stop := make(chan struct{})
		for range 8 {
			describing.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_, _ = db.Describe(t.Context()) // fails once the program has ended
						if w, err := db.NewWriter(t.Context(), 0); err == nil {
							_ = w.Close() // nothing was written
						}
					}
				}
			})
		}
		p, err := os.FindProcess(db.ProcessID)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Error(err)
		}
		for err = nil; !errors.Is(err, driver.ErrUnreachable); {
			_, err = db.Describe(t.Context())
		}
		again := open()
		close(stop)
		describing.Wait()
		if err := db.Close(); !strings.Contains(fmt.Sprint(err), "has ended, and its databases are closed") {
			t.Errorf("an earlier database: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A program ends with tsmark: its input is closed, also when tsmark is killed.
func TestProgramEnds(t *testing.T) {
	programs := new(external.Programs)
	d, err := programs.Driver().Program(map[string]string{external.OptionCommand: "'" + os.Args[0] + "' " + served + " sqlite"})
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := d.Open(t.Context(), driver.Env{Dir: dir, Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/driver.log"); err != nil || db.ProcessID == 0 {
		t.Errorf("process %d, log: %v", db.ProcessID, err)
	}
	programs.Close()
	if p, err := os.FindProcess(db.ProcessID); err != nil || p.Signal(nil) == nil {
		t.Errorf("the program has not ended: %v", err)
	}
	if _, err := db.Describe(t.Context()); !strings.Contains(fmt.Sprint(err), "has ended, and its databases are closed") {
		t.Error(err)
	}
}
