package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // its initialization fixes the library on some platforms
	lib "modernc.org/sqlite/lib"
)

// goLibrary is SQLite as Go code.
type goLibrary struct {
	tls *libc.TLS
	db  uintptr
}

// openGo opens the file, and creates it if it does not exist.
func openGo(path string) (library, error) {
	l := &goLibrary{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		l.tls.Close()
		return nil, err
	}
	defer libc.Xfree(l.tls, name)
	out := libc.Xmalloc(l.tls, libc.Tsize_t(unsafe.Sizeof(l.db)))
	defer libc.Xfree(l.tls, out)
	// A connection has one user at a time and needs no lock.
	code := lib.Xsqlite3_open_v2(l.tls, name, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX, 0)
	l.db = *(*uintptr)(memory(out))
	if code == lib.SQLITE_OK {
		lib.Xsqlite3_extended_result_codes(l.tls, l.db, 1)
		code = l.refuseTextAsName()
	}
	if code != lib.SQLITE_OK {
		err := explain(code, l.message(code))
		l.close()
		return nil, err
	}
	return l, nil
}

// refuseTextAsName makes an unknown quoted name an error. By default SQLite would treat it as a text.
func (l *goLibrary) refuseTextAsName() int32 {
	const argument = 8 // bytes that the library gives to each
	arguments := libc.Xmalloc(l.tls, 2*argument)
	defer libc.Xfree(l.tls, arguments)
	for _, setting := range []int32{lib.SQLITE_DBCONFIG_DQS_DML, lib.SQLITE_DBCONFIG_DQS_DDL} {
		if code := lib.Xsqlite3_db_config(l.tls, l.db, setting, libc.VaList(arguments, int32(0), uintptr(0))); code != lib.SQLITE_OK {
			return code
		}
	}
	return lib.SQLITE_OK
}

func (l *goLibrary) close() {
	lib.Xsqlite3_close_v2(l.tls, l.db)
	l.tls.Close()
}

func (l *goLibrary) interrupt() {
	tls := libc.NewTLS() // the session's own is in use
	defer tls.Close()
	lib.Xsqlite3_interrupt(tls, l.db)
}

// message returns the connection's message if it belongs to this error.
func (l *goLibrary) message(code int32) string {
	if l.db != 0 && lib.Xsqlite3_extended_errcode(l.tls, l.db) == code {
		return libc.GoString(lib.Xsqlite3_errmsg(l.tls, l.db))
	}
	return libc.GoString(lib.Xsqlite3_errstr(l.tls, code))
}

func (l *goLibrary) compile(text string) (compiled, string, int32) {
	sql, err := libc.CString(text)
	if err != nil {
		return nil, "", lib.SQLITE_NOMEM
	}
	defer libc.Xfree(l.tls, sql)
	const pointer = libc.Tsize_t(unsafe.Sizeof(uintptr(0)))
	out := libc.Xmalloc(l.tls, 2*pointer)
	defer libc.Xfree(l.tls, out)
	code := lib.Xsqlite3_prepare_v2(l.tls, l.db, sql, int32(len(text)+1), out, out+uintptr(pointer))
	found := *(*[2]uintptr)(memory(out))
	if code != lib.SQLITE_OK || found[0] == 0 {
		return nil, "", code
	}
	return &goCompiled{tls: l.tls, p: found[0]}, text[found[1]-sql:], code
}

// goCompiled is a statement of a goLibrary.
type goCompiled struct {
	tls         *libc.TLS
	p           uintptr
	texts, size uintptr // memory of its own
}

func (c *goCompiled) columns() int { return int(lib.Xsqlite3_column_count(c.tls, c.p)) }

func (c *goCompiled) row(cells []cell) int32 {
	tls, p := c.tls, c.p
	code := lib.Xsqlite3_step(tls, p)
	if code != lib.SQLITE_ROW {
		return code
	}
	for i := range cells {
		to, column := &cells[i], int32(i)
		to.kind, to.length = lib.Xsqlite3_column_type(tls, p, column), 8
		switch to.kind {
		case lib.SQLITE_INTEGER:
			to.integer = lib.Xsqlite3_column_int64(tls, p, column)
		case lib.SQLITE_FLOAT:
			to.number = lib.Xsqlite3_column_double(tls, p, column)
		case lib.SQLITE_NULL:
			to.length = 0
		default:
			to.integer = int64(lib.Xsqlite3_column_text(tls, p, column))
			to.length = lib.Xsqlite3_column_bytes(tls, p, column)
		}
	}
	return code
}

func (c *goCompiled) run(cells []cell, texts []byte) int32 {
	tls, p := c.tls, c.p
	if n := uintptr(cap(texts)); n > c.size {
		libc.Xfree(tls, c.texts)
		c.texts, c.size = libc.Xmalloc(tls, libc.Tsize_t(n)), n
	}
	copy(unsafe.Slice((*byte)(memory(c.texts)), len(texts)), texts)
	for i := range cells {
		v, at := &cells[i], int32(i+1)
		switch v.kind {
		case lib.SQLITE_INTEGER:
			lib.Xsqlite3_bind_int64(tls, p, at, v.integer)
		case lib.SQLITE_FLOAT:
			lib.Xsqlite3_bind_double(tls, p, at, v.number)
		case lib.SQLITE_TEXT:
			lib.Xsqlite3_bind_text(tls, p, at, c.texts+uintptr(v.integer), v.length, 0)
		case lib.SQLITE_BLOB:
			lib.Xsqlite3_bind_blob(tls, p, at, c.texts+uintptr(v.integer), v.length, 0)
		default:
			lib.Xsqlite3_bind_null(tls, p, at)
		}
	}
	return lib.Xsqlite3_step(tls, p)
}

// reset leaves texts bound: they stay in memory until others are bound.
func (c *goCompiled) reset(bool) { lib.Xsqlite3_reset(c.tls, c.p) }

func (c *goCompiled) finalize() {
	lib.Xsqlite3_finalize(c.tls, c.p)
	libc.Xfree(c.tls, c.texts)
}
