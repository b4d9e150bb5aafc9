package influxdb3

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/arrowrows"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// answers is a server of Arrow Flight that answers what send sends for a ticket.
type answers struct {
	flight.BaseFlightServer
	send func(statement string, to flight.FlightService_DoGetServer) error
}

// DoGet sends the result of the statement in a ticket.
func (a *answers) DoGet(ticket *flight.Ticket, to flight.FlightService_DoGetServer) error {
	return a.send(string(ticket.Ticket), to)
}

// serve starts a server that speaks HTTP by a function, and gRPC, on one port as
// InfluxDB 3, and returns the options that lead to it.
func serve(t testing.TB, web http.HandlerFunc, a *answers) driver.Options {
	t.Helper()
	calls := grpc.NewServer()
	flight.RegisterFlightServiceServer(calls, a)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			calls.ServeHTTP(w, r)
			return
		}
		web(w, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Options(t, Driver(), connection.Host, host, connection.Port, port, optionToken, stub.Secret)
}

func settingsOf(t testing.TB, o driver.Options) *settings {
	t.Helper()
	s, err := newSettings(o, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// nobody answers HTTP where a test sends none.
func nobody(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// sample are rows of all types that a server may answer with.
func sample(t testing.TB, rows int) arrow.RecordBatch {
	t.Helper()
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}},
		{Name: "seconds", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}},
		{Name: "hostname", Type: dictionary, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString},
		{Name: "view", Type: arrow.BinaryTypes.StringView},
		{Name: "usage", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "count", Type: arrow.PrimitiveTypes.Int64},
		{Name: "n", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "nothing", Type: arrow.Null, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(1_000_000_000 + i))
		b.Field(1).(*array.TimestampBuilder).Append(7)
		hosts, texts, usage := b.Field(2).(*array.BinaryDictionaryBuilder), b.Field(3).(*array.StringBuilder), b.Field(6).(*array.Float64Builder)
		if i%2 == 0 {
			if err := hosts.AppendString(fmt.Sprintf("host_%d", i%4)); err != nil {
				t.Fatal(err)
			}
			texts.Append("")
			usage.Append(float64(i) + 0.5)
		} else {
			hosts.AppendNull()
			texts.AppendNull()
			usage.AppendNull()
		}
		b.Field(4).(*array.LargeStringBuilder).Append("large")
		b.Field(5).(*array.StringViewBuilder).Append("a view that is longer than twelve")
		b.Field(7).(*array.Int64Builder).Append(-1 << 63)
		b.Field(8).(*array.Uint64Builder).Append(9)
		b.Field(9).(*array.BooleanBuilder).Append(i%2 == 0)
		b.Field(10).(*array.NullBuilder).AppendNull()
	}
	return b.NewRecordBatch()
}

// sampleRows are the first rows of sample.
func sampleRows() [][]query.Value {
	text := func(s string) query.Value { return query.Value{Kind: query.Text, Text: []byte(s)} }
	row := func(i int64, host, empty, usage query.Value) []query.Value {
		return []query.Value{
			{Kind: query.Time, Int: 1_000_000_000 + i}, {Kind: query.Time, Int: 7_000_000_000}, host, empty, text("large"), text("a view that is longer than twelve"),
			usage, {Kind: query.Int, Int: -1 << 63}, {Kind: query.Int, Int: 9}, {Kind: query.Bool, Int: 1 - i%2}, {},
		}
	}
	return [][]query.Value{
		row(0, text("host_0"), text(""), query.Value{Kind: query.Float, Float: 0.5}),
		row(1, query.Value{}, query.Value{}, query.Value{}),
		row(2, text("host_2"), text(""), query.Value{Kind: query.Float, Float: 2.5}),
	}
}

// sends sends batches, and then what an error says.
func sends(then error, batches ...arrow.RecordBatch) func(string, flight.FlightService_DoGetServer) error {
	return func(_ string, to flight.FlightService_DoGetServer) error {
		w := flight.NewRecordWriter(to, ipc.WithSchema(batches[0].Schema()))
		for _, b := range batches {
			if err := w.Write(b); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		return then
	}
}

// TestAnswers checks that values of every type are decoded, and that the server receives the statement,
// the database and the token.
func TestAnswers(t *testing.T) {
	batch := sample(t, 3)
	ticket, header := "", metadata.MD{}
	a := &answers{}
	a.send = func(text string, to flight.FlightService_DoGetServer) error {
		ticket = text
		header, _ = metadata.FromIncomingContext(to.Context())
		return sends(nil, batch, batch)(text, to)
	}
	q := newFlight(settingsOf(t, serve(t, nobody, a)))
	defer conformance.Close(t, q)
	var got query.Answer
	cost, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, &got)
	if err != nil || cost.Rows != 6 || cost.Bytes < 500 {
		t.Fatal(cost, err)
	}
	conformance.CheckRows(t, got.Rows, append(sampleRows(), sampleRows()...)...)
	if cost, err = q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil || cost.Rows != 6 {
		t.Error(cost, err)
	}
	if want := `{"database":"tsmark","query_type":"sql","sql_query":"SELECT 1"}`; ticket != want {
		t.Errorf("ticket %s, want %s", ticket, want)
	}
	if got := fmt.Sprint(header.Get("database"), header.Get("authorization")); got != "[tsmark] [Bearer "+stub.Secret+"]" {
		t.Error(got)
	}
}

// fails answers with an error.
func fails(code codes.Code, message string) func(string, flight.FlightService_DoGetServer) error {
	return func(string, flight.FlightService_DoGetServer) error { return status.Error(code, message) }
}

// TestAnswersThatFail checks that a failed response leads to a one-line error that says how to fix it.
func TestAnswersThatFail(t *testing.T) {
	batch := sample(t, 3)
	endless := func(_ string, to flight.FlightService_DoGetServer) error {
		empty := batch.NewSlice(0, 0)
		w := flight.NewRecordWriter(to, ipc.WithSchema(batch.Schema()))
		w.SetFlightDescriptor(&flight.FlightDescriptor{Path: []string{"x"}})
		for {
			if err := w.WriteWithAppMetadata(empty, make([]byte, 1<<20)); err != nil {
				return err
			}
		}
	}
	for name, test := range map[string]struct {
		send func(string, flight.FlightService_DoGetServer) error
		says string
	}{
		"token":       {send: fails(codes.Unauthenticated, "Unauthenticated"), says: "not authorized by this token; give the option token"},
		"rights":      {send: fails(codes.PermissionDenied, "Permission denied"), says: "give the option token"},
		"database":    {send: fails(codes.NotFound, "Database 'tsmark' not found"), says: "load it first, or give another database"},
		"statement":   {send: fails(codes.InvalidArgument, "Error while planning query:\nno field x"), says: "Error while planning query: no field x"},
		"files":       {send: fails(codes.Internal, "Query would scan 433 Parquet files, exceeding the file limit. …"), says: "exceeding the file limit"},
		"no Flight":   {send: fails(codes.Unimplemented, "unexpected HTTP status code"), says: "does not speak Arrow Flight"},
		"half-way":    {send: sends(status.Error(codes.Internal, "out of memory"), batch), says: "out of memory"},
		"gone":        {send: sends(status.Error(codes.Unavailable, "transport is closing"), batch), says: "cut off after 3 rows"},
		"no schema":   {send: func(string, flight.FlightService_DoGetServer) error { return nil }, says: "the answer was cut off after 0 rows"},
		"without end": {send: endless, says: "no row within 32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newFlight(settingsOf(t, serve(t, nobody, &answers{send: test.send})))
			defer conformance.Close(t, q)
			_, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil)
			stub.Says(t, err, "querying InfluxDB 3: ", test.says)
		})
	}
}

// A value of a type that tsmark does not know is an error and no other value.
func TestUnknownType(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.FixedWidthTypes.Duration_s}}, nil))
	b.Field(0).(*array.DurationBuilder).Append(1)
	var r arrowrows.Rows
	stub.Says(t, r.Give(b.NewRecordBatch(), nil), "column x of the answer: tsmark does not read values of the type duration")
}

// Reading a row allocates nothing; goroutines that earlier tests left may allocate a little meanwhile.
func TestRowsAllocateNothing(t *testing.T) {
	sink := query.SinkFunc(func([]query.Value) error { return nil })
	allocations := func(n int) float64 {
		batch := sample(t, n)
		var r arrowrows.Rows
		return testing.AllocsPerRun(5, func() {
			if err := r.Give(batch, sink); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := allocations(10), allocations(10_000); large > small+100 {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", small, large)
	}
}

func BenchmarkRows(b *testing.B) {
	batch := sample(b, 1000)
	sink := query.SinkFunc(func([]query.Value) error { return nil })
	var r arrowrows.Rows
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Give(batch, sink); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}

// TestWrites checks that batches are sent to the endpoint with the parameters of the options, and that
// each response of the server becomes the correct error.
func TestWrites(t *testing.T) {
	for text, want := range map[string]string{
		"":           "accept_partial=false&db=tsmark&no_sync=false&precision=nanosecond",
		"no_sync=on": "accept_partial=false&db=tsmark&no_sync=true&precision=nanosecond",
		"gzip=on":    "accept_partial=false&db=tsmark&no_sync=false&precision=nanosecond",
	} {
		o := conformance.Options(t, Driver())
		for pair := range strings.SplitSeq(text, ",") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				o[name] = value
			}
		}
		s := settingsOf(t, o)
		if e := s.writes(s.noSync); e.Path != "/api/v3/write_lp" || e.Parameters.Encode() != want || (e.Compress == lineproto.Gzip) != strings.Contains(text, "gzip") {
			t.Errorf("%s: %s %s %+v", text, e.Path, e.Parameters.Encode(), e.Compress)
		}
	}
	const line = `{"error":"line protocol parsing error","data":{"original_line":"cpu x","line_number":2,"error_message":"no fields"}}`
	const several = `{"error":"partial write","data":[{"original_line":"cpu x","line_number":1,"error_message":"invalid column type for column 'usage', expected i64, got f64"}]}`
	stub.WriteFails(t, map[string]stub.Write{
		"a line":   {Answer: stub.Saying(400, "", line), Says: "line 2 of the batch"},
		"a type":   {Answer: stub.Saying(400, "", several), Says: "load into an empty database"},
		"token":    {Answer: stub.Saying(401, "", ""), Says: "not authorized by this token"},
		"too long": {Answer: stub.Saying(413, "", "max request size (10485760 bytes) exceeded"), Says: "lower --batch-size"},
		"tables":   {Answer: stub.Saying(422, "", "Update to schema would exceed number of tables per database limit"), Says: "delete tables"},
		"database": {Answer: stub.Saying(422, "", "Adding a new database would exceed limit of 5 databases"), Says: "InfluxDB 3 Core takes five"},
	}, func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch) {
		o := conformance.Options(t, Driver(), connection.Host, host, connection.Port, port, optionToken, stub.Secret)
		if timeout != "" {
			o[connection.Timeout] = timeout
		}
		d := newDatabase(settingsOf(t, o))
		schema, batch := conformance.CPURows(t)
		d.Prepare(influx.Lines().New(schema), schema)
		return conformance.Writer(t, d.db()), batch
	})
}

// api is the HTTP interface of a server that records every request.
type api struct {
	requests  []string
	databases string
}

func (a *api) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	path, _ := url.QueryUnescape(r.URL.String())
	a.requests = append(a.requests, strings.TrimSpace(r.Method+" "+path+" "+string(body)))
	switch {
	case r.Header.Get("Authorization") != "Bearer "+stub.Secret:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/ping":
		_, _ = io.WriteString(w, `{"product_name":"InfluxDB 3 Core","version":"3.10.0","revision":"x","process_id":"y"}`)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, a.databases)
	case strings.HasSuffix(r.URL.Path, "write_lp"):
		w.WriteHeader(http.StatusNoContent)
	}
}

// openStub opens a database of such a server.
func openStub(t *testing.T, web http.HandlerFunc, a *answers, create bool, pairs ...string) (driver.DB, error) {
	t.Helper()
	o := serve(t, web, a)
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	db, err := open(t.Context(), driver.Env{Create: create}, o)
	if err == nil {
		t.Cleanup(func() { conformance.Close(t, db) })
	}
	return db, err
}

// Tables are made with their tags and fields by the interface of HTTP, and the note is
// a row of a table of its own, in a database that tsmark makes where it is not there.
func TestCreate(t *testing.T) {
	a := &api{databases: `[{"iox::database":"_internal"}]`}
	db, err := openStub(t, a.answer, &answers{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetNote(t.Context(), `a "note" \ of
two lines`); err != nil {
		t.Fatal(err)
	}
	last := a.requests[len(a.requests)-1]
	begin, end, ok := strings.Cut(last, `tsmark_mark content="a \"note\" \\ of`+"\n"+`two lines",made=true `)
	if !ok || !strings.HasPrefix(begin, "POST /api/v3/write_lp?accept_partial=false&db=tsmark&no_sync=false&precision=nanosecond") || len(end) != 19 {
		t.Error(last)
	}
	table := &series.Table{
		Name: "readings", Tags: []series.Tag{{Key: "name", Values: series.Numbered{Prefix: "truck_"}}},
		Fields: []series.Field{{Name: "a", Type: series.Float}, {Name: "b", Type: series.Bool}, {Name: "c", Type: series.Timestamp}, {Name: "d", Type: series.Text}},
	}
	if err := db.Create(t.Context(), &series.Schema{Tables: []*series.Table{table}, Series: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`POST /api/v3/configure/database {"db":"tsmark"}`,
		`POST /api/v3/configure/table {"db":"tsmark","fields":[{"name":"a","type":"float64"},{"name":"b","type":"bool"},{"name":"c","type":"int64"},{"name":"d","type":"utf8"}],"table":"readings","tags":["name"]}`,
	} {
		if !strings.Contains(strings.Join(a.requests, "\n"), want) {
			t.Errorf("%q, want %s", a.requests, want)
		}
	}
	d, err := db.Describe(t.Context())
	if err != nil || d.Version != "3.10.0" || d.Edition != "InfluxDB 3 Core" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestDrop checks that a database that tsmark created is dropped if nothing would be left in it, and
// that only the tables are dropped in a database that a user created.
func TestDrop(t *testing.T) {
	for _, made := range []bool{true, false} {
		columns := listOf(t, []string{"table_name", "column_name", "data_type"},
			[]string{"cpu", "hostname", "Dictionary(Int32, Utf8)"}, []string{"cpu", "time", "Timestamp(ns)"}, []string{"cpu", "usage", "Float64"},
			[]string{"tsmark_mark", "content", "Utf8"})
		f := &answers{}
		f.send = func(statement string, to flight.FlightService_DoGetServer) error {
			if strings.Contains(statement, "information_schema") {
				return sends(nil, columns)(statement, to)
			}
			return sends(nil, noteOf(t, "the note", made))(statement, to)
		}
		a := &api{databases: `[{"iox::database":"tsmark"}]`}
		db, err := openStub(t, a.answer, f, false)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := db.Objects(t.Context())
		if got := fmt.Sprint(objects, objects[0].Columns, objects[1].Note); err != nil || got != "[table cpu table tsmark_mark] [tag hostname field usage] true" {
			t.Fatal(got, err)
		}
		a.requests = nil
		if err := db.Drop(t.Context(), objects[:1]); err != nil {
			t.Fatal(err)
		}
		var deleted []string
		for _, r := range a.requests {
			if strings.HasPrefix(r, "DELETE") {
				deleted = append(deleted, r)
			}
		}
		want := "[DELETE /api/v3/configure/table?db=tsmark&hard_delete_at=now&table=cpu]"
		if made {
			want = "[DELETE /api/v3/configure/database?db=tsmark&hard_delete_at=now]"
		}
		if fmt.Sprint(deleted) != want {
			t.Errorf("%v, want %s", deleted, want)
		}
	}
}

// listOf is a batch of texts.
func listOf(t *testing.T, names []string, rows ...[]string) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for _, row := range rows {
		for i, v := range row {
			b.Field(i).(*array.StringBuilder).Append(v)
		}
	}
	return b.NewRecordBatch()
}

// noteOf is a batch of the note's row.
func noteOf(t *testing.T, text string, made bool) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "content", Type: arrow.BinaryTypes.String}, {Name: "made", Type: arrow.FixedWidthTypes.Boolean}, {Name: "time", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}},
	}, nil))
	b.Field(0).(*array.StringBuilder).Append(text)
	b.Field(1).(*array.BooleanBuilder).Append(made)
	b.Field(2).(*array.TimestampBuilder).Append(5)
	return b.NewRecordBatch()
}

// What opening may find is one line.
func TestOpenFails(t *testing.T) {
	mine := (&api{databases: `[]`}).answer
	for name, test := range map[string]struct {
		web    http.HandlerFunc
		create bool
		says   string
	}{
		"no database": {mine, false, "there is no database tsmark at"},
		"token":       {stub.Saying(401, "", ""), true, "not authorized by this token"},
		"version 2":   {stub.Saying(200, "", `{"version":"2.7.12"}`), true, "tsmark speaks to InfluxDB 3"},
		"no JSON":     {stub.Saying(200, "", `OK`), true, "the answer is not what InfluxDB 3 says"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openStub(t, test.web, &answers{}, test.create)
			stub.Says(t, err, "opening InfluxDB 3: ", test.says)
		})
	}
	for text, says := range map[string]string{
		"":      "give a name of a database by the option database",
		"_mine": "begins with a letter or a digit",
		"a b":   "begins with a letter or a digit",
	} {
		o := conformance.Options(t, Driver())
		o[connection.Database] = text
		_, err := newSettings(o, func(string) string { return "" })
		stub.Says(t, err, says)
	}
	many := &series.Table{Name: "wide", Tags: []series.Tag{{Key: "h", Values: series.Numbered{}}}}
	for i := range 498 {
		many.Fields = append(many.Fields, series.Field{Name: fmt.Sprint("f", i), Type: series.Float})
	}
	stub.Says(t, checkSchema(&series.Schema{Tables: []*series.Table{many}}), "table wide would have 501 columns, and InfluxDB 3 takes 500")
}
