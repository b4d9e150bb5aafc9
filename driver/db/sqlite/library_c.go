//go:build cgo && !light && (linux || darwin)

package sqlite

/*
// The library is the one that github.com/mattn/go-sqlite3 compiles into the
// program. Its header belongs to that package, so the functions used here are
// declared here. They are weak because cgo once links this package alone to
// inspect it. See sqlite.org/c3ref for each function.
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include <stdlib.h>

#define WEAK __attribute__((weak))
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
WEAK int sqlite3_open_v2(const char*, sqlite3**, int, const char*);
WEAK int sqlite3_close_v2(sqlite3*);
WEAK int sqlite3_extended_result_codes(sqlite3*, int);
WEAK int sqlite3_db_config(sqlite3*, int, ...);
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

// cell is that of Go.
typedef struct { long long integer; double number; int type, length; } cell;

// tsmark_refuse_text_as_name is sqlite3_db_config, which cgo cannot call.
static int tsmark_refuse_text_as_name(sqlite3 *db) {
	int rc = sqlite3_db_config(db, 1013, 0, (int*)0); // SQLITE_DBCONFIG_DQS_DML
	return rc ? rc : sqlite3_db_config(db, 1014, 0, (int*)0); // SQLITE_DBCONFIG_DQS_DDL
}

// tsmark_run binds all parameters and steps: one call from Go for many values.
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
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // the library itself
	lib "modernc.org/sqlite/lib"
)

// hasC reports whether this program holds the C library.
const hasC = true

// cLibrary is SQLite's own C code. Its constants equal those of the translation.
type cLibrary struct{ db *C.sqlite3 }

// openC opens the file, and creates it if it does not exist.
func openC(path string) (library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	l := &cLibrary{}
	// A connection has one user at a time and needs no lock.
	code := C.sqlite3_open_v2(name, &l.db, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX, nil)
	if code == lib.SQLITE_OK {
		C.sqlite3_extended_result_codes(l.db, 1)
		code = C.tsmark_refuse_text_as_name(l.db)
	}
	if code != lib.SQLITE_OK {
		err := explain(int32(code), l.message(int32(code)))
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *cLibrary) close() { C.sqlite3_close_v2(l.db) }

func (l *cLibrary) interrupt() { C.sqlite3_interrupt(l.db) }

// message returns the connection's message if it belongs to this error.
func (l *cLibrary) message(code int32) string {
	if l.db != nil && C.sqlite3_extended_errcode(l.db) == C.int(code) {
		return C.GoString(C.sqlite3_errmsg(l.db))
	}
	return C.GoString(C.sqlite3_errstr(C.int(code)))
}

func (l *cLibrary) compile(text string) (compiled, string, int32) {
	sql := C.CString(text)
	defer C.free(unsafe.Pointer(sql))
	var p *C.sqlite3_stmt
	var rest *C.char
	code := C.sqlite3_prepare_v2(l.db, sql, C.int(len(text)+1), &p, &rest)
	if code != lib.SQLITE_OK || p == nil {
		return nil, "", int32(code)
	}
	return &cCompiled{p}, C.GoString(rest), int32(code)
}

// cCompiled is a statement of a cLibrary.
type cCompiled struct{ p *C.sqlite3_stmt }

func (c *cCompiled) columns() int { return int(C.sqlite3_column_count(c.p)) }

func (c *cCompiled) row(cells []cell) int32 {
	return int32(C.tsmark_row(c.p, cCells(cells), C.int(len(cells))))
}

func (c *cCompiled) run(cells []cell, texts []byte) int32 {
	return int32(C.tsmark_run(c.p, cCells(cells), C.int(len(cells)), (*C.char)(unsafe.Pointer(unsafe.SliceData(texts)))))
}

func cCells(cells []cell) *C.cell { return (*C.cell)(unsafe.Pointer(unsafe.SliceData(cells))) }

func (c *cCompiled) reset(texts bool) {
	C.sqlite3_reset(c.p)
	if texts {
		C.sqlite3_clear_bindings(c.p) // they are Go's again
	}
}

func (c *cCompiled) finalize() { C.sqlite3_finalize(c.p) }
