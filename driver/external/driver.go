//go:build !light

package external

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// driver returns the program as a driver.
func (p *program) driver() (driver.Driver, error) {
	can := p.can.Load()
	r := &renderer{program: p, capsOf: make(map[string]driver.Caps), literalsOf: make(map[string]query.Literals)}
	d := driver.Driver{
		Name: can.Name, Help: oneLine(can.Help), Options: ownOptions(), Profiles: can.Profiles, Durabilities: can.Durabilities,
		External:  strings.TrimSpace(oneLine(can.Version + " " + can.SDK)),
		Exchanges: slices.Contains(can.Functions, message.FunctionExchange),
		Caps:      r.caps,
		Place:     func(driver.Options) string { return "" },
		Endpoints: func(driver.Options) ([]driver.Endpoint, error) { return nil, nil },
		Render:    r.render,
		Open:      p.open,
	}
	if slices.Contains(can.Functions, message.ActionLiterals) {
		d.Literals = r.literals
	}
	if d.External == "" {
		d.External = driver.UnknownVersion
	}
	for i := range can.Options {
		o, err := can.Options[i].Driver()
		if err != nil {
			return driver.Driver{}, err
		}
		d.Options = append(d.Options, o)
	}
	return d, nil
}

// theirs returns the options that the program knows.
func theirs(o map[string]string) map[string]string {
	options := maps.Clone(o)
	maps.DeleteFunc(options, func(name, _ string) bool { return isOwn(name) })
	return options
}

// renderer does everything that needs no database.
type renderer struct {
	*program
	mu         sync.Mutex
	capsOf     map[string]driver.Caps // by options
	literalsOf map[string]query.Literals
	schemas    map[*series.Schema]json.RawMessage
}

// mostSchemas limits the schemas whose JSON is kept.
const mostSchemas = 1000

// schemaText returns the JSON of a schema; nil for no schema.
func (r *renderer) schemaText(s *series.Schema) (json.RawMessage, error) {
	if s == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := r.schemas[s]; ok {
		return text, nil
	}
	text, err := json.Marshal(message.FromSchema(s))
	if r.schemas == nil || len(r.schemas) >= mostSchemas {
		r.schemas = make(map[*series.Schema]json.RawMessage)
	}
	r.schemas[s] = text
	return text, err
}

// inquire runs an action that needs no database, in limited time.
func inquire[T any](p *program, action string, body *message.Request) (*T, error) {
	if err := p.start(context.Background(), nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), p.patience(), fmt.Errorf("no answer to action %s within %v", action, p.patience()))
	defer cancel()
	out, err := call[T](ctx, p.connection(), &p.dial, action, body)
	return out, p.explain(ctx, err)
}

// caps implements driver.Driver. If the program does not say, a check of any schema returns its error.
func (r *renderer) caps(o driver.Options) driver.Caps {
	options := theirs(o)
	r.mu.Lock()
	c, known := r.capsOf[key(options)]
	r.mu.Unlock()
	if known {
		return c
	}
	found, err := inquire[message.Caps](r.program, message.ActionCaps, &message.Request{Options: options})
	if err == nil {
		if c, err = found.Driver(); err != nil {
			err = fmt.Errorf("%s: action %s: %w", r.title(), message.ActionCaps, err)
		}
	}
	if err != nil {
		if c, _ = r.can.Load().Caps.Driver(); c.TimePrecision == 0 { // it was checked
			c.TimePrecision = 1
		}
		c.Schema = func(*series.Schema) error { return err }
		return c
	}
	c.Schema = func(s *series.Schema) error {
		text, err := r.schemaText(s)
		if err == nil {
			_, err = inquire[struct{}](r.program, message.ActionCheckSchema, &message.Request{Options: options, Schema: text})
		}
		return err
	}
	r.mu.Lock()
	r.capsOf[key(options)] = c
	r.mu.Unlock()
	return c
}

// literals implements driver.Driver. The program makes each literal.
func (r *renderer) literals(o driver.Options) query.Literals {
	options := theirs(o)
	r.mu.Lock()
	l, known := r.literalsOf[key(options)]
	r.mu.Unlock()
	if known {
		return l
	}
	found, err := inquire[message.Literals](r.program, message.ActionLiterals, &message.Request{Options: options})
	switch {
	case err != nil:
		return query.Literals{Unsupported: err.Error()}
	case found.Unsupported == "" && (found.Language == "" || found.Confinement == ""):
		return query.Literals{Unsupported: fmt.Sprintf("%s: action %s: language or confinement is missing", r.title(), message.ActionLiterals)}
	}
	literal := func(kind, value string) (string, error) {
		out, err := inquire[message.Text](r.program, message.ActionLiteral, &message.Request{Options: options, Kind: kind, Text: value})
		if err != nil {
			return "", err
		}
		return out.Text, nil
	}
	l = query.Literals{
		Unsupported: oneLine(found.Unsupported), Language: found.Language, Confinement: oneLine(found.Confinement),
		Text: func(value string) (string, error) { return literal(message.TextLiteral, value) },
		Time: func(t time.Time) (string, error) {
			return literal(message.TimeLiteral, t.UTC().Format(time.RFC3339Nano))
		},
	}
	if found.Regexp {
		l.Regexp = func(value string) (string, error) { return literal(message.RegexpLiteral, value) }
	}
	r.mu.Lock()
	r.literalsOf[key(options)] = l
	r.mu.Unlock()
	return l
}

// plan is what a querier sends besides the handle of its database: members of a Ticket as JSON.
type plan []byte

// render implements driver.Driver.
func (r *renderer) render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	schema, err := r.schemaText(s)
	if err != nil {
		return driver.Request{}, err
	}
	out, err := inquire[message.Rendered](r.program, message.ActionRender, &message.Request{Options: theirs(o), Schema: schema, Query: q})
	if err != nil {
		return driver.Request{}, err
	}
	var table *series.Table
	if s != nil {
		table = s.Table(q.Table)
	}
	members, err := ticketMembers(&message.Ticket{Text: out.Text, Plan: out.Plan, Columns: message.FromColumns(q.Columns(table))})
	return driver.Request{Text: out.Text, Plan: members}, err
}

// ticketMembers returns the members of a ticket that do not depend on the querier, without braces.
func ticketMembers(t *message.Ticket) (plan, error) {
	text, err := json.Marshal(struct {
		Text     string           `json:"text"`
		UserText bool             `json:"user_text,omitempty"`
		Plan     json.RawMessage  `json:"plan,omitempty"`
		Columns  []message.Column `json:"columns,omitempty"`
	}{t.Text, t.UserText, t.Plan, t.Columns})
	if err != nil {
		return nil, fmt.Errorf("a rendered query: %w", err)
	}
	return text[1 : len(text)-1], nil
}
