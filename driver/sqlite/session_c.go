//go:build cgo && (linux || darwin)

package sqlite

/*
// The library is the one that github.com/mattn/go-sqlite3 compiles into the
// program. What is used of it is declared here, since its header is that
// package's; weakly, since cgo links this package alone once to look at it.
// See sqlite.org/c3ref for each.
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include <stdlib.h>

#define WEAK __attribute__((weak))
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
WEAK int sqlite3_open_v2(const char*, sqlite3**, int, const char*);
WEAK int sqlite3_close_v2(sqlite3*);
WEAK int sqlite3_extended_result_codes(sqlite3*, int);
WEAK int sqlite3_db_config(sqlite3*, int, ...);
WEAK int sqlite3_get_autocommit(sqlite3*);
WEAK void sqlite3_interrupt(sqlite3*);
WEAK int sqlite3_extended_errcode(sqlite3*);
WEAK const char* sqlite3_errmsg(sqlite3*);
WEAK const char* sqlite3_errstr(int);
WEAK int sqlite3_prepare_v2(sqlite3*, const char*, int, sqlite3_stmt**, const char**);
WEAK int sqlite3_finalize(sqlite3_stmt*);
WEAK int sqlite3_step(sqlite3_stmt*);
WEAK int sqlite3_reset(sqlite3_stmt*);
WEAK int sqlite3_clear_bindings(sqlite3_stmt*);
WEAK int sqlite3_bind_int64(sqlite3_stmt*, int, long long);
WEAK int sqlite3_bind_double(sqlite3_stmt*, int, double);
WEAK int sqlite3_bind_null(sqlite3_stmt*, int);
WEAK int sqlite3_bind_text(sqlite3_stmt*, int, const char*, int, void (*)(void*));
WEAK int sqlite3_bind_blob(sqlite3_stmt*, int, const void*, int, void (*)(void*));
WEAK int sqlite3_column_count(sqlite3_stmt*);
WEAK int sqlite3_column_type(sqlite3_stmt*, int);
WEAK long long sqlite3_column_int64(sqlite3_stmt*, int);
WEAK double sqlite3_column_double(sqlite3_stmt*, int);
WEAK const unsigned char* sqlite3_column_text(sqlite3_stmt*, int);
WEAK int sqlite3_column_bytes(sqlite3_stmt*, int);

enum { ROW = 100, INTEGER = 1, FLOAT = 2, TEXT = 3, BLOB = 4, NULLS = 5 };

// cell is a value on its way. Of a text that is bound, integer is where it begins
// among all texts; of one that is read, its address.
typedef struct { long long integer; double number; int type, length; } cell;

// tsmark_refuse_text_as_name is sqlite3_db_config, which cgo cannot call.
static int tsmark_refuse_text_as_name(sqlite3 *db) {
	int rc = sqlite3_db_config(db, 1013, 0, (int*)0); // SQLITE_DBCONFIG_DQS_DML
	return rc ? rc : sqlite3_db_config(db, 1014, 0, (int*)0); // SQLITE_DBCONFIG_DQS_DDL
}

// tsmark_run binds all parameters and runs the statement: one call from Go for
// many values. Texts stay where they are until it returns.
static int tsmark_run(sqlite3_stmt *st, const cell *cells, int n, const char *texts) {
	for (int i = 0; i < n; i++) {
		const cell *c = &cells[i];
		switch (c->type) {
		case INTEGER: sqlite3_bind_int64(st, i+1, c->integer); break;
		case FLOAT: sqlite3_bind_double(st, i+1, c->number); break;
		case TEXT: sqlite3_bind_text(st, i+1, texts + c->integer, c->length, 0); break;
		case BLOB: sqlite3_bind_blob(st, i+1, texts + c->integer, c->length, 0); break;
		default: sqlite3_bind_null(st, i+1);
		}
	}
	return sqlite3_step(st);
}

// tsmark_row steps to the next row and reads all of its columns.
static int tsmark_row(sqlite3_stmt *st, cell *cells, int n) {
	int rc = sqlite3_step(st);
	if (rc != ROW) return rc;
	for (int i = 0; i < n; i++) {
		cell *c = &cells[i];
		c->length = 8;
		switch (c->type = sqlite3_column_type(st, i)) {
		case INTEGER: c->integer = sqlite3_column_int64(st, i); break;
		case FLOAT: c->number = sqlite3_column_double(st, i); break;
		case NULLS: c->length = 0; break;
		default:
			c->integer = (long long)(size_t)sqlite3_column_text(st, i);
			c->length = sqlite3_column_bytes(st, i);
		}
	}
	return rc;
}
*/
import "C"

import (
	"context"
	"strings"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // the library itself

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// hasC reports whether this program holds the C library.
const hasC = true

// cSession is a session of SQLite's own C code. The driver of the package that
// compiles it would allocate for every value on its way, and go from Go to C for
// each: here one call has all values of many rows, or of one that is read.
type cSession struct {
	db    *C.sqlite3 // nil: closed
	row   []query.Value
	cells []C.cell
}

// Result codes, and flags of sqlite3_open_v2.
const (
	codeOK   = 0
	codeRow  = C.ROW
	codeDone = 101

	openReadWrite, openCreate, openNoMutex = 0x2, 0x4, 0x8000
)

// connectC opens the file, which it makes where there is none.
func connectC(path string) (session, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	s := &cSession{}
	// A connection has one user at a time and needs no lock of its own.
	rc := C.sqlite3_open_v2(name, &s.db, openReadWrite|openCreate|openNoMutex, nil)
	if rc == codeOK {
		C.sqlite3_extended_result_codes(s.db, 1)
		rc = C.tsmark_refuse_text_as_name(s.db)
	}
	if rc != codeOK {
		err := s.failure(rc)
		s.close()
		return nil, err
	}
	return s, nil
}

// closed implements session.
func (s *cSession) closed() bool { return s.db == nil }

// close implements session.
func (s *cSession) close() {
	if s.db != nil {
		C.sqlite3_close_v2(s.db)
		s.db = nil
	}
}

// rollback implements session.
func (s *cSession) rollback() {
	if C.sqlite3_get_autocommit(s.db) == 0 {
		_, _ = s.query(context.Background(), "ROLLBACK", nil)
	}
}

// failure makes an error of a result code.
func (s *cSession) failure(code C.int) error {
	message := C.GoString(C.sqlite3_errstr(code))
	// The connection's message says more, if it is about this error.
	if s.db != nil && C.sqlite3_extended_errcode(s.db) == code {
		message = C.GoString(C.sqlite3_errmsg(s.db))
	}
	return explain(int32(code), message)
}

// query implements session.
func (s *cSession) query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	if ctx.Err() != nil {
		return driver.Cost{}, interrupted(ctx)
	}
	st, err := s.compile(text)
	if err != nil {
		return driver.Cost{}, err
	}
	settle := sqlkit.InterruptWhenDone(ctx, func() { C.sqlite3_interrupt(s.db) })
	cost, err := s.read(st, sink)
	settle()
	st.finalize()
	if err != nil && ctx.Err() != nil {
		return cost, interrupted(ctx)
	}
	return cost, err
}

// read runs the statement and hands its rows to the sink.
func (s *cSession) read(st *cStatement, sink query.Sink) (driver.Cost, error) {
	columns := int(C.sqlite3_column_count(st.p))
	s.row, s.cells = s.row[:0], s.cells[:0]
	for range columns {
		s.row, s.cells = append(s.row, query.Value{}), append(s.cells, C.cell{})
	}
	cells := unsafe.SliceData(s.cells)
	var cost driver.Cost
	for {
		switch rc := C.tsmark_row(st.p, cells, C.int(columns)); rc {
		case codeRow:
		case codeDone:
			return cost, nil
		default:
			return cost, s.failure(rc)
		}
		for i := range columns {
			cost.Bytes += int64(s.cells[i].length)
			s.row[i] = valueOf(&s.cells[i])
		}
		cost.Rows++
		if sink != nil {
			if err := sink.Row(s.row); err != nil {
				return cost, err
			}
		}
	}
}

// prepare implements session.
func (s *cSession) prepare(text string) (statement, error) {
	st, err := s.compile(text)
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (s *cSession) compile(text string) (*cStatement, error) {
	if err := compilable(text, s.closed()); err != nil {
		return nil, err
	}
	sql := C.CString(text)
	defer C.free(unsafe.Pointer(sql))
	st := &cStatement{s: s}
	var rest *C.char
	if rc := C.sqlite3_prepare_v2(s.db, sql, C.int(len(text)+1), &st.p, &rest); rc != codeOK {
		return nil, s.failure(rc)
	}
	if st.p == nil || strings.TrimSpace(C.GoString(rest)) != "" {
		st.finalize()
		return nil, severalStatements(text)
	}
	return st, nil
}

// cStatement is a compiled statement of a cSession. What is bound is gathered, and
// handed over when it runs.
type cStatement struct {
	s     *cSession
	p     *C.sqlite3_stmt
	cells []C.cell
	texts []byte
}

// at returns the place of a parameter.
func (st *cStatement) at(i int32) *C.cell {
	for len(st.cells) < int(i) {
		st.cells = append(st.cells, C.cell{})
	}
	return &st.cells[i-1]
}

func (st *cStatement) bindInt(i int32, v int64) {
	c := st.at(i)
	c._type, c.integer = C.INTEGER, C.longlong(v)
}

func (st *cStatement) bindFloat(i int32, v float64) {
	c := st.at(i)
	c._type, c.number = C.FLOAT, C.double(v)
}

func (st *cStatement) bindNull(i int32) { st.at(i)._type = C.NULLS }

func (st *cStatement) bindText(i int32, v []byte) { st.bindBytes(i, v, C.TEXT) }

func (st *cStatement) bindBlob(i int32, v []byte) { st.bindBytes(i, v, C.BLOB) }

func (st *cStatement) bindBytes(i int32, v []byte, kind C.int) {
	c := st.at(i)
	c._type, c.integer, c.length = kind, C.longlong(len(st.texts)), C.int(len(v))
	st.texts = append(st.texts, v...)
}

// run implements statement.
func (st *cStatement) run() error {
	if len(st.texts) == 0 {
		st.texts = append(st.texts, 0) // an address, also of an empty text: NULL would be one
	}
	rc := C.tsmark_run(st.p, unsafe.SliceData(st.cells), C.int(len(st.cells)), (*C.char)(unsafe.Pointer(unsafe.SliceData(st.texts))))
	var err error
	if rc != codeDone {
		err = st.s.failure(rc)
	}
	C.sqlite3_reset(st.p)
	if len(st.texts) > 1 {
		C.sqlite3_clear_bindings(st.p) // texts are Go's again
	}
	st.texts = st.texts[:0]
	return err
}

// finalize implements statement.
func (st *cStatement) finalize() {
	C.sqlite3_finalize(st.p)
	st.p = nil
}

// valueOf returns what was read. A text is SQLite's own memory until the next row.
// Times are integers: SQLite has no type for them.
func valueOf(c *C.cell) query.Value {
	switch c._type {
	case C.INTEGER:
		return query.Value{Kind: query.Int, Int: int64(c.integer)}
	case C.FLOAT:
		return query.Value{Kind: query.Float, Float: float64(c.number)}
	case C.NULLS:
		return query.Value{}
	}
	v := query.Value{Kind: query.Text}
	if c.length > 0 {
		v.Text = unsafe.Slice((*byte)(memory(uintptr(c.integer))), int(c.length))
	}
	return v
}
