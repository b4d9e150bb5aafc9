package sqlite

import (
	"context"
	"strings"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // its initialization fixes the library on some platforms
	lib "modernc.org/sqlite/lib"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// goSession is a session of SQLite as Go code. It calls the library itself:
// database/sql would allocate for every value on its way.
type goSession struct {
	tls *libc.TLS
	db  uintptr       // 0: closed
	row []query.Value // handed to the sink
}

// connectGo opens the file, which it makes where there is none.
func connectGo(path string) (session, error) {
	s := &goSession{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		s.tls.Close()
		return nil, err
	}
	defer libc.Xfree(s.tls, name)
	out := libc.Xmalloc(s.tls, libc.Tsize_t(unsafe.Sizeof(s.db)))
	defer libc.Xfree(s.tls, out)
	// A connection has one user at a time and needs no lock of its own.
	rc := lib.Xsqlite3_open_v2(s.tls, name, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX, 0)
	s.db = *(*uintptr)(memory(out))
	if rc == lib.SQLITE_OK {
		lib.Xsqlite3_extended_result_codes(s.tls, s.db, 1)
		rc = s.refuseTextAsName()
	}
	if rc != lib.SQLITE_OK {
		err := s.failure(rc)
		s.close()
		return nil, err
	}
	return s, nil
}

// refuseTextAsName makes a quoted name that nothing bears an error. By default
// SQLite would take it for a text.
func (s *goSession) refuseTextAsName() int32 {
	const argument = 8 // bytes that the library gives to each
	arguments := libc.Xmalloc(s.tls, 2*argument)
	defer libc.Xfree(s.tls, arguments)
	for _, setting := range []int32{lib.SQLITE_DBCONFIG_DQS_DML, lib.SQLITE_DBCONFIG_DQS_DDL} {
		if rc := lib.Xsqlite3_db_config(s.tls, s.db, setting, libc.VaList(arguments, int32(0), uintptr(0))); rc != lib.SQLITE_OK {
			return rc
		}
	}
	return lib.SQLITE_OK
}

// memory makes a pointer of an address outside Go's heap.
func memory(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// closed implements session.
func (s *goSession) closed() bool { return s.db == 0 }

// close implements session.
func (s *goSession) close() {
	if s.db != 0 {
		lib.Xsqlite3_close_v2(s.tls, s.db)
		s.db = 0
	}
	if s.tls != nil {
		s.tls.Close()
		s.tls = nil
	}
}

// query implements session.
func (s *goSession) query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	if ctx.Err() != nil {
		return driver.Cost{}, interrupted(ctx)
	}
	statement, err := s.compile(text)
	if err != nil {
		return driver.Cost{}, err
	}
	settle := sqlkit.InterruptWhenDone(ctx, s.interrupt)
	cost, err := s.read(statement, sink)
	settle()
	statement.finalize()
	if err != nil && ctx.Err() != nil {
		return cost, interrupted(ctx)
	}
	return cost, err
}

// rollback implements session.
func (s *goSession) rollback() {
	if lib.Xsqlite3_get_autocommit(s.tls, s.db) == 0 {
		_, _ = s.query(context.Background(), "ROLLBACK", nil)
	}
}

// interrupt ends the statement that runs, from another goroutine.
func (s *goSession) interrupt() {
	tls := libc.NewTLS() // the session's own is in use
	defer tls.Close()
	lib.Xsqlite3_interrupt(tls, s.db)
}

// read runs the statement and hands its rows to the sink.
func (s *goSession) read(statement *goStatement, sink query.Sink) (driver.Cost, error) {
	tls, p := s.tls, statement.p
	columns := int(lib.Xsqlite3_column_count(tls, p))
	s.row = s.row[:0]
	for range columns {
		s.row = append(s.row, query.Value{})
	}
	var cost driver.Cost
	for {
		switch rc := lib.Xsqlite3_step(tls, p); rc {
		case lib.SQLITE_ROW:
		case lib.SQLITE_DONE:
			return cost, nil
		default:
			return cost, s.failure(rc)
		}
		for c := range columns {
			cost.Bytes += int64(statement.value(int32(c), &s.row[c]))
		}
		cost.Rows++
		if sink != nil {
			if err := sink.Row(s.row); err != nil {
				return cost, err
			}
		}
	}
}

// goStatement is a compiled statement of a goSession.
type goStatement struct {
	s *goSession
	p uintptr
}

// prepare implements session.
func (s *goSession) prepare(text string) (statement, error) {
	st, err := s.compile(text)
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (s *goSession) compile(text string) (*goStatement, error) {
	if err := compilable(text, s.closed()); err != nil {
		return nil, err
	}
	sql, err := libc.CString(text)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(s.tls, sql)
	const pointer = libc.Tsize_t(unsafe.Sizeof(uintptr(0)))
	out := libc.Xmalloc(s.tls, 2*pointer)
	defer libc.Xfree(s.tls, out)
	if rc := lib.Xsqlite3_prepare_v2(s.tls, s.db, sql, int32(len(text)+1), out, out+uintptr(pointer)); rc != lib.SQLITE_OK {
		return nil, s.failure(rc)
	}
	found := *(*[2]uintptr)(memory(out))
	statement := &goStatement{s: s, p: found[0]}
	if rest := strings.TrimSpace(text[found[1]-sql:]); statement.p == 0 || rest != "" {
		statement.finalize()
		return nil, severalStatements(text)
	}
	return statement, nil
}

// finalize implements statement.
func (st *goStatement) finalize() {
	lib.Xsqlite3_finalize(st.s.tls, st.p)
	st.p = 0
}

// run implements statement.
func (st *goStatement) run() error {
	rc := lib.Xsqlite3_step(st.s.tls, st.p)
	if rc != lib.SQLITE_DONE {
		err := st.s.failure(rc)
		lib.Xsqlite3_reset(st.s.tls, st.p)
		return err
	}
	lib.Xsqlite3_reset(st.s.tls, st.p)
	return nil
}

func (st *goStatement) bindInt(i int32, v int64) { lib.Xsqlite3_bind_int64(st.s.tls, st.p, i, v) }

func (st *goStatement) bindFloat(i int32, v float64) { lib.Xsqlite3_bind_double(st.s.tls, st.p, i, v) }

func (st *goStatement) bindNull(i int32) { lib.Xsqlite3_bind_null(st.s.tls, st.p, i) }

// bindText binds a copy of the text.
func (st *goStatement) bindText(i int32, v []byte) {
	copied := libc.Xmalloc(st.s.tls, libc.Tsize_t(len(v)+1))
	copy(unsafe.Slice((*byte)(memory(copied)), len(v)), v)
	lib.Xsqlite3_bind_text(st.s.tls, st.p, i, copied, int32(len(v)), lib.SQLITE_TRANSIENT)
	libc.Xfree(st.s.tls, copied)
}

// bindBlob binds a copy of the bytes.
func (st *goStatement) bindBlob(i int32, v []byte) {
	copied := libc.Xmalloc(st.s.tls, libc.Tsize_t(len(v)+1))
	copy(unsafe.Slice((*byte)(memory(copied)), len(v)), v)
	lib.Xsqlite3_bind_blob(st.s.tls, st.p, i, copied, int32(len(v)), lib.SQLITE_TRANSIENT)
	libc.Xfree(st.s.tls, copied)
}

// value puts a column of the current row into dst and returns its size in
// bytes: 8 for numbers, 0 for NULL. A text is SQLite's own memory until the
// next row. Times are integers: SQLite has no type for them.
func (st *goStatement) value(c int32, dst *query.Value) int {
	tls, p := st.s.tls, st.p
	switch lib.Xsqlite3_column_type(tls, p, c) {
	case lib.SQLITE_INTEGER:
		*dst = query.Value{Kind: query.Int, Int: lib.Xsqlite3_column_int64(tls, p, c)}
	case lib.SQLITE_FLOAT:
		*dst = query.Value{Kind: query.Float, Float: lib.Xsqlite3_column_double(tls, p, c)}
	case lib.SQLITE_NULL:
		*dst = query.Value{}
		return 0
	default:
		text := lib.Xsqlite3_column_text(tls, p, c)
		n := int(lib.Xsqlite3_column_bytes(tls, p, c))
		*dst = query.Value{Kind: query.Text}
		if n > 0 {
			dst.Text = unsafe.Slice((*byte)(memory(text)), n)
		}
		return n
	}
	return 8
}

// failure makes an error of a result code.
func (s *goSession) failure(code int32) error {
	message := libc.GoString(lib.Xsqlite3_errstr(s.tls, code))
	// The connection's message says more, if it is about this error.
	if s.db != 0 && lib.Xsqlite3_extended_errcode(s.tls, s.db) == code {
		message = libc.GoString(lib.Xsqlite3_errmsg(s.tls, s.db))
	}
	return explain(code, message)
}
