// Package message has the JSON objects that tsmark and an external driver exchange.
// sdk/protocol.md describes the protocol, and sdk/protocol.schema.json the objects.
package message

import (
	"encoding/json"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Protocol is the version of the protocol.
const Protocol = 1

// The actions of DoAction.
const (
	ActionCapabilities   = "capabilities"
	ActionCaps           = "caps"
	ActionCheckSchema    = "check_schema"
	ActionRender         = "render"
	ActionOpen           = "open"
	ActionClose          = "close"
	ActionDescribe       = "describe"
	ActionObjects        = "objects"
	ActionPlan           = "plan"
	ActionCreate         = "create"
	ActionGrow           = "grow"
	ActionDrop           = "drop"
	ActionNote           = "note"
	ActionSetNote        = "set_note"
	ActionSettle         = "settle"
	ActionCensus         = "census"
	ActionDistinctCensus = "distinct_census"
	ActionFootprint      = "footprint"
	ActionCountRows      = "count_rows"
	ActionClock          = "clock"
	ActionExplain        = "explain"
	ActionMetrics        = "metrics"
	ActionFlushMemory    = "flush_memory"
	ActionStep           = "step"
	ActionLiterals       = "literals"
	ActionLiteral        = "literal"
	ActionCheckText      = "check_text"
	ActionFreeSpace      = "free_space"
	ActionProcesses      = "processes"
	ActionFlush          = "flush"
	ActionCloseWorker    = "close_worker"
)

// The functions of Capabilities.Functions that are not actions.
const (
	FunctionListSeries = "list_series"
	FunctionExchange   = "exchange" // tickets over DoExchange, one after another, in place of a DoGet each
)

// The kinds of workers in Request.Kind.
const (
	WriterWorker  = "writer"
	QuerierWorker = "querier"
)

// The kinds of literals in Request.Kind.
const (
	TextLiteral   = "text"
	TimeLiteral   = "time" // of a time in RFC 3339
	RegexpLiteral = "regexp"
)

// Capabilities is the result of the action capabilities.
type Capabilities struct {
	Protocol     int              `json:"protocol"`
	Name         string           `json:"name"`
	Help         string           `json:"help"`
	Version      string           `json:"version"` // of the driver
	SDK          string           `json:"sdk,omitempty"`
	Options      []Option         `json:"options"`
	Profiles     []driver.Profile `json:"profiles,omitempty"`
	Durabilities []driver.Profile `json:"durabilities,omitempty"`
	Functions    []string         `json:"functions,omitempty"` // optional actions that it has
	Caps         *Caps            `json:"caps"`                // of the default options
}

// Request is the body of every action: each uses the members that it needs.
type Request struct {
	Protocol []int             `json:"protocol,omitempty"` // versions that tsmark speaks
	Tsmark   string            `json:"tsmark,omitempty"`   // version of tsmark
	Options  map[string]string `json:"options,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Create   bool              `json:"create,omitempty"`
	DB       string            `json:"db,omitempty"`
	Schema   json.RawMessage   `json:"schema,omitempty"` // a Schema
	Query    *query.Query      `json:"query,omitempty"`
	Objects  []Object          `json:"objects,omitempty"`
	Table    string            `json:"table,omitempty"`
	Text     string            `json:"text,omitempty"`
	Plan     json.RawMessage   `json:"plan,omitempty"`
	Name     string            `json:"name,omitempty"`
	Worker   int               `json:"worker"`
	Kind     string            `json:"kind,omitempty"`
	UserText bool              `json:"user_text,omitempty"` // Text is a query's that a user wrote
}

// Opened is the result of the action open.
type Opened struct {
	DB      string `json:"db"`
	Address string `json:"address,omitempty"` // host:port of the database's server
	// Functions are the optional actions of this database; nil: those of Capabilities.
	Functions []string `json:"functions"`
}

// Objects is the result of the actions objects and plan.
type Objects struct {
	Objects []Object `json:"objects"`
}

// Object is a driver.Object.
type Object struct {
	Kind     string   `json:"kind,omitempty"`
	Name     string   `json:"name"`
	Key      string   `json:"key,omitempty"`
	Identity string   `json:"identity,omitempty"`
	Columns  []string `json:"columns,omitempty"`
	Of       string   `json:"of,omitempty"`
	Schema   string   `json:"schema,omitempty"`
	Data     bool     `json:"data,omitempty"`
	Note     bool     `json:"note,omitempty"`
	InTheWay bool     `json:"in_the_way,omitempty"`
}

// FromObjects returns objects as messages have them.
func FromObjects(list []driver.Object) []Object {
	objects := make([]Object, len(list))
	for i, o := range list {
		objects[i] = Object(o)
	}
	return objects
}

// DriverObjects is the reverse of FromObjects.
func DriverObjects(list []Object) []driver.Object {
	objects := make([]driver.Object, len(list))
	for i, o := range list {
		objects[i] = driver.Object(o)
	}
	return objects
}

// Text is the result of the actions note and literal.
type Text struct {
	Text string `json:"text"`
}

// Rendered is the result of the action render.
type Rendered struct {
	Text string          `json:"text"`
	Plan json.RawMessage `json:"plan,omitempty"` // returned with the query in a Ticket
}

// Plan is the result of the action explain.
type Plan struct {
	Plan string `json:"plan"`
}

// Rows is the result of the action count_rows; -1: unknown.
type Rows struct {
	Rows int64 `json:"rows"`
}

// Clock is the result of the action clock.
type Clock struct {
	Time string `json:"time"`           // RFC 3339
	Unit string `json:"unit,omitempty"` // a duration: the time is truncated to a multiple of it
}

// Metrics is the result of the action metrics.
type Metrics struct {
	Metrics map[string]float64 `json:"metrics"`
}

// Literals is the result of the action literals, a query.Literals.
type Literals struct {
	Unsupported string `json:"unsupported,omitempty"` // why users' query texts cannot run with the options
	Language    string `json:"language"`              // in lower case: sql
	Confinement string `json:"confinement"`           // what keeps a text from changing anything
	Regexp      bool   `json:"regexp,omitempty"`      // regular expressions have literals of their own
}

// FreeSpace is the result of the action free_space. Free is nil or -1 if it is unknown.
type FreeSpace struct {
	Folder string `json:"folder,omitempty"` // of the data, on the server's host
	Free   *int64 `json:"free"`             // bytes
}

// Processes is the result of the action processes.
type Processes struct {
	Addresses []string `json:"addresses"` // host:port of further processes of the database's server
}

// Footprint is the result of the action footprint. Bytes is nil or -1 if they are unknown.
type Footprint struct {
	Bytes   *int64                 `json:"bytes"`
	Without string                 `json:"without,omitempty"`
	Pending string                 `json:"pending,omitempty"`
	Parts   []driver.FootprintPart `json:"parts,omitempty"`
}

// Put is the command of the descriptor of a DoPut.
type Put struct {
	DB     string `json:"db"`
	Worker int    `json:"worker"`
	Table  string `json:"table"`
}

// Batch is the metadata of a record batch of a DoPut.
type Batch struct {
	Batch int64 `json:"batch"`
}

// Receipt is the metadata of a result of DoPut, and the result of the action flush.
type Receipt struct {
	Batch     int64 `json:"batch"`
	Rows      int64 `json:"rows"`       // accepted, with rows of earlier batches that were buffered
	WireBytes int64 `json:"wire_bytes"` // -1: unknown
	ServiceNS int64 `json:"service_ns"` // from the arrival of the batch until the system had accepted it
	Acked     bool  `json:"acked"`      // the system acknowledges rows
}

// Ticket is the ticket of a DoGet.
type Ticket struct {
	DB         string          `json:"db"`
	Worker     int             `json:"worker"`
	Text       string          `json:"text,omitempty"`
	UserText   bool            `json:"user_text,omitempty"` // a user wrote the text, which has passed check_text
	Plan       json.RawMessage `json:"plan,omitempty"`
	Columns    []Column        `json:"columns,omitempty"`
	Count      bool            `json:"count,omitempty"`       // rows are counted and not sent
	ListSeries string          `json:"list_series,omitempty"` // a table, whose series are listed
	Schema     *Schema         `json:"schema,omitempty"`      // with ListSeries
}

// Column is a column of an answer.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // time, int, float, text, bool or date
}

// Answered is the metadata of the last message of a DoGet.
type Answered struct {
	Rows      int64 `json:"rows"`
	Bytes     int64 `json:"bytes"`
	ServiceNS int64 `json:"service_ns"`
}

// Kinds are the kinds of columns by name.
func Kinds() map[string]query.Kind {
	return map[string]query.Kind{"time": query.Time, "int": query.Int, "float": query.Float, "text": query.Text, "bool": query.Bool, "date": query.Date}
}

// FromColumns returns columns as tickets have them.
func FromColumns(list []query.Column) []Column {
	columns := make([]Column, len(list))
	for i, c := range list {
		columns[i].Name = c.Name
		for name, kind := range Kinds() {
			if kind == c.Kind {
				columns[i].Kind = name
			}
		}
	}
	return columns
}
