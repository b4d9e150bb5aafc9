//go:build !light

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// server serves one driver.
type server struct {
	flight.BaseFlightServer
	driver driver.Driver

	mu       sync.Mutex
	dbs      map[string]*database
	opened   int
	schemas  map[string]*series.Schema // by their JSON, for rendering
	rendered map[string]driver.Request // requests whose plans have no JSON form, by number
	numbers  int
}

// mostRendered limits the requests that are kept; the oldest ones are forgotten first.
const mostRendered = 1 << 20

// mostSchemas limits the schemas that are kept.
const mostSchemas = 100

func newServer(d driver.Driver) *server {
	return &server{driver: d, dbs: make(map[string]*database), schemas: make(map[string]*series.Schema), rendered: make(map[string]driver.Request)}
}

func (s *server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range s.dbs {
		_ = db.close() // the program ends
	}
}

// statusOf returns the status by which tsmark understands an error.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	code := codes.Unknown
	var bad *option.Error
	var denied *driver.DeniedError
	switch temporary := driver.AsTemporary(err); {
	case errors.Is(err, query.ErrUnsupported):
		code = codes.Unimplemented
	case temporary != nil && temporary.Refused:
		code = codes.ResourceExhausted
	case temporary != nil, errors.Is(err, driver.ErrUnreachable):
		code = codes.Unavailable
	case errors.Is(err, driver.ErrExisting):
		code = codes.AlreadyExists
	case errors.As(err, &denied):
		code = codes.PermissionDenied
	case errors.As(err, &bad):
		code = codes.InvalidArgument
	}
	return status.Error(code, err.Error())
}

// DoAction implements flight.FlightServer.
func (s *server) DoAction(a *flight.Action, to flight.FlightService_DoActionServer) error {
	var r message.Request
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return status.Errorf(codes.InvalidArgument, "body of action %s: %v", a.Type, err)
	}
	out, err := s.act(to.Context(), a.Type, &r)
	if err != nil {
		return statusOf(err)
	}
	if out == nil {
		out = struct{}{}
	}
	body, err := json.Marshal(out)
	if err != nil {
		return statusOf(err)
	}
	return to.Send(&flight.Result{Body: body})
}

// act runs an action and returns its result; nil: it has none.
func (s *server) act(ctx context.Context, action string, r *message.Request) (any, error) {
	switch action {
	case message.ActionCapabilities:
		return s.capabilities(r)
	case message.ActionCaps:
		options, err := s.driver.Resolve(r.Options)
		if err != nil {
			return nil, err
		}
		caps := s.driver.Caps(options)
		return message.FromCaps(&caps), nil
	case message.ActionCheckSchema:
		return nil, s.checkSchema(r)
	case message.ActionRender:
		return s.render(r)
	case message.ActionLiterals, message.ActionLiteral:
		return s.literal(action, r)
	case message.ActionOpen:
		return s.open(ctx, r)
	}
	db, err := s.find(r.DB)
	if err != nil {
		return nil, err
	}
	if action == message.ActionClose {
		s.mu.Lock()
		delete(s.dbs, r.DB)
		s.mu.Unlock()
		return nil, db.close()
	}
	return db.act(ctx, action, r)
}

func (s *server) find(handle string) (*database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if db := s.dbs[handle]; db != nil {
		return db, nil
	}
	return nil, status.Errorf(codes.NotFound, "database %q is not open", handle)
}

func (s *server) capabilities(r *message.Request) (any, error) {
	spoken := false
	for _, v := range r.Protocol {
		spoken = spoken || v == message.Protocol
	}
	if !spoken {
		return nil, status.Errorf(codes.InvalidArgument, "the driver speaks version %d of the protocol, and not %v", message.Protocol, r.Protocol)
	}
	options, err := s.driver.Resolve(nil)
	if err != nil {
		return nil, err
	}
	caps := s.driver.Caps(options)
	out := &message.Capabilities{
		Protocol: message.Protocol, Name: s.driver.Name, Help: s.driver.Help, SDK: "tsmark-go", Options: message.FromOptions(s.driver.Options),
		Profiles: s.driver.Profiles, Durabilities: s.driver.Durabilities, Caps: message.FromCaps(&caps),
		Functions: []string{message.FunctionExchange},
	}
	if s.driver.Literals != nil {
		out.Functions = append(out.Functions, message.ActionLiterals)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		out.Version = info.Main.Version
	}
	return out, nil
}

// literal returns the driver's literals for users' query texts, or one of them.
func (s *server) literal(action string, r *message.Request) (any, error) {
	options, err := s.driver.Resolve(r.Options)
	if err != nil {
		return nil, err
	}
	l := s.driver.LiteralsOf(options)
	switch {
	case l == nil:
		return nil, errNoFunction(action)
	case action == message.ActionLiterals:
		return message.Literals{Unsupported: l.Unsupported, Language: l.Language, Confinement: l.Confinement, Regexp: l.Regexp != nil}, nil
	}
	text := ""
	switch {
	case r.Kind == message.TextLiteral:
		text, err = l.Text(r.Text)
	case r.Kind == message.RegexpLiteral && l.Regexp != nil:
		text, err = l.Regexp(r.Text)
	case r.Kind == message.TimeLiteral:
		var at time.Time
		if at, err = time.Parse(time.RFC3339Nano, r.Text); err == nil {
			text, err = l.Time(at)
		}
	default:
		err = status.Errorf(codes.InvalidArgument, "there is no literal of the kind %q", r.Kind)
	}
	return message.Text{Text: text}, err
}

// functions lists the optional actions that a database has.
func functions(db *driver.DB) []string {
	list := []string{message.FunctionExchange}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{message.ActionCountRows, db.CountRows != nil}, {message.ActionClock, db.ReadClock != nil}, {message.ActionExplain, db.Explain != nil},
		{message.ActionMetrics, db.ReadMetrics != nil}, {message.ActionFlushMemory, db.FlushMemory != nil},
		{message.ActionDistinctCensus, db.DistinctCensus != nil}, {message.FunctionListSeries, db.ListSeries != nil},
		{message.ActionCheckText, db.CheckText != nil}, {message.ActionFreeSpace, db.FreeSpace != nil}, {message.ActionProcesses, db.ListProcesses != nil}, {message.ActionGrow, db.Grow != nil},
	} {
		if f.has {
			list = append(list, f.name)
		}
	}
	return list
}

func (s *server) checkSchema(r *message.Request) error {
	options, err := s.driver.Resolve(r.Options)
	if err != nil {
		return err
	}
	schema, err := s.schema(r.Schema)
	if err != nil {
		return err
	}
	if caps := s.driver.Caps(options); caps.Schema != nil {
		if err := caps.Schema(schema); err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
	return nil
}

// schema returns a schema for rendering.
func (s *server) schema(text json.RawMessage) (*series.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.schemas[string(text)]; known != nil {
		return known, nil
	}
	schema, err := decodeSchema(text)
	if err != nil {
		return nil, err
	}
	for _, t := range schema.Tables {
		for i := range t.Tags {
			t.Tags[i].Values = unknownTags{}
		}
	}
	if len(s.schemas) >= mostSchemas {
		clear(s.schemas)
	}
	s.schemas[string(text)] = schema
	return schema, nil
}

func decodeSchema(text json.RawMessage) (*series.Schema, error) {
	var m message.Schema
	if len(text) > 0 {
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "schema: %v", err)
		}
	}
	return m.Decode()
}

// needsSeries is the panic of unknownTags.
type needsSeries string

// unknownTags are the tags of a schema without rows.
type unknownTags struct{}

// Append implements series.TagValues.
func (unknownTags) Append([]byte, uint32) ([]byte, bool) {
	panic(needsSeries("the text of the query lists the tags of all series, which a driver in a program of its own does not know"))
}

// planNumber is the plan of a request that the server keeps.
type planNumber struct {
	Number string `json:"number"`
}

func (s *server) render(r *message.Request) (any, error) {
	options, err := s.driver.Resolve(r.Options)
	if err != nil {
		return nil, err
	}
	schema, err := s.schema(r.Schema)
	if err != nil {
		return nil, err
	}
	if r.Query == nil {
		return nil, status.Error(codes.InvalidArgument, "the query is missing")
	}
	if name, _ := r.Query.Right(); name != "" { // drivers join tables by the numbers of series, which learnTags gives
		if left, right := schema.Table(r.Query.Table), schema.Table(name); left != nil && right != nil && !sql.SameTags(left, right) {
			return nil, status.Errorf(codes.Unimplemented, "the schema does not say that the tables %s and %s share their series", left.Name, right.Name)
		}
	}
	request, err := s.driver.Render(r.Query, schema, options)
	if err != nil {
		return nil, err
	}
	out := message.Rendered{Text: request.Text}
	if request.Plan == nil {
		return out, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := strconv.Itoa(s.numbers)
	s.rendered[number] = request
	delete(s.rendered, strconv.Itoa(s.numbers-mostRendered))
	s.numbers++
	out.Plan, err = json.Marshal(planNumber{number})
	return out, err
}

// request returns the request of a ticket.
func (s *server) request(text string, userText bool, plan json.RawMessage) (driver.Request, error) {
	if len(plan) == 0 {
		return driver.Request{Text: text, UserText: userText}, nil
	}
	var n planNumber
	if err := json.Unmarshal(plan, &n); err != nil {
		return driver.Request{}, status.Errorf(codes.InvalidArgument, "plan: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rendered[n.Number]
	if !ok {
		return r, status.Error(codes.InvalidArgument, "the query was rendered by another process, or too long ago; render it again")
	}
	return r, nil
}

func (s *server) open(ctx context.Context, r *message.Request) (any, error) {
	options, err := s.driver.Resolve(r.Options)
	if err != nil {
		return nil, err
	}
	if r.Create && r.Dir != "" { // tsmark may be on another host
		if err := os.MkdirAll(r.Dir, 0o777); err != nil {
			return nil, err
		}
	}
	// What an open database goes on doing must not end with this call.
	of, err := s.driver.Open(context.WithoutCancel(ctx), driver.Env{Dir: r.Dir, Create: r.Create}, options)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	handle := fmt.Sprintf("%s-%d", s.driver.Name, s.opened)
	s.dbs[handle] = newDatabase(s, of)
	return message.Opened{DB: handle, Address: of.Address, Functions: functions(&of)}, nil
}

// timeOf formats a time as messages have it.
func timeOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
