//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

// Package duckdb has DuckDB for package witness. Only programs and tests of the second reader import
// it: linking it takes seconds.
package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/workload/file/witness"
)

// Library returns DuckDB.
func Library() *witness.DuckDB {
	return &witness.DuckDB{Version: duck.LibraryVersion(), Open: open}
}

// open implements witness.DuckDB.
func open(ctx context.Context, path string) (witness.Query, func(), error) {
	var undo []func()
	done := func() {
		for _, one := range slices.Backward(undo) {
			one()
		}
	}
	query, err := connect(ctx, path, &undo)
	if err != nil {
		done()
		return nil, nil, err
	}
	return query, done, nil
}

// connect adds to undo how each step is undone, also where a later step fails.
func connect(ctx context.Context, path string, undo *[]func()) (witness.Query, error) {
	var config duck.Config
	if duck.CreateConfig(&config) != duck.StateSuccess {
		return nil, errors.New("that it has no memory")
	}
	*undo = append(*undo, func() { duck.DestroyConfig(&config) })
	for _, s := range [][2]string{
		{"threads", "1"}, // rows stay in order
		{"memory_limit", "1GB"}, {"temp_directory", ""}, {"autoinstall_known_extensions", "false"}, {"autoload_known_extensions", "false"},
	} {
		duck.SetConfig(config, s[0], s[1])
	}
	var db duck.Database
	var message string
	if duck.OpenExt(":memory:", &db, config, &message) != duck.StateSuccess {
		return nil, errors.New(message)
	}
	*undo = append(*undo, func() { duck.Close(&db) })
	var conn duck.Connection
	if duck.Connect(db, &conn) != duck.StateSuccess {
		return nil, errors.New("that it has no connection")
	}
	*undo = append(*undo, func() { duck.Disconnect(&conn) })
	stop := context.AfterFunc(ctx, func() { duck.Interrupt(conn) })
	*undo = append(*undo, func() { stop() })
	query := func(text string, visit func(row []witness.Cell)) error { return run(ctx, conn, text, visit) }
	quoted := "'" + strings.ReplaceAll(path, "'", "''") + "'"
	for _, text := range []string{"SET allowed_paths=[" + quoted + "]", "SET enable_external_access=false", "SET lock_configuration=true"} {
		if err := query(text, nil); err != nil {
			return nil, err
		}
	}
	return query, nil
}

// run runs a statement and passes the rows of its answer to visit, unless it is nil.
func run(ctx context.Context, conn duck.Connection, text string, visit func(row []witness.Cell)) error {
	var r duck.Result
	defer duck.DestroyResult(&r)
	if duck.Query(conn, text, &r) != duck.StateSuccess {
		return errors.New(duck.ResultError(&r))
	}
	if visit == nil {
		return nil
	}
	row := make([]witness.Cell, duck.ColumnCount(&r))
	types := make([]duck.Type, len(row))
	for i := range types {
		types[i] = duck.ColumnType(&r, duck.IdxT(i))
		if !isReadable(types[i]) {
			return fmt.Errorf("that a column of its answer has type %d", types[i])
		}
	}
	data, valid := make([]unsafe.Pointer, len(row)), make([]unsafe.Pointer, len(row))
	for {
		chunk := duck.FetchChunk(r)
		if chunk.Ptr == nil {
			return ctx.Err()
		}
		for i := range row {
			v := duck.DataChunkGetVector(chunk, duck.IdxT(i))
			data[i], valid[i] = duck.VectorGetData(v), duck.VectorGetValidity(v)
		}
		for at := range int(duck.DataChunkGetSize(chunk)) {
			for i := range row {
				row[i] = cell(types[i], data[i], valid[i], at)
			}
			visit(row)
		}
		duck.DestroyDataChunk(&chunk)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// isReadable reports whether cell reads values of the type.
func isReadable(of duck.Type) bool {
	switch of {
	case duck.TypeVarchar, duck.TypeBlob, duck.TypeDouble, duck.TypeBigInt,
		duck.TypeTimestamp, duck.TypeTimestampS, duck.TypeTimestampMS, duck.TypeTimestampNS, duck.TypeTimestampTZ:
		return true
	}
	return false
}

// cell reads a value from a vector.
func cell(of duck.Type, data, valid unsafe.Pointer, row int) witness.Cell {
	if valid != nil && *(*uint64)(unsafe.Add(valid, 8*(row/64)))>>(row%64)&1 == 0 {
		return witness.Cell{Null: true}
	}
	switch of {
	case duck.TypeVarchar, duck.TypeBlob:
		const inline = 12 // bytes of a text that stand in the vector itself
		at := unsafe.Add(data, 16*row)
		n := *(*uint32)(at)
		text := unsafe.Add(at, 4)
		if n > inline {
			text = *(*unsafe.Pointer)(unsafe.Add(at, 8))
		}
		return witness.Cell{Text: unsafe.Slice((*byte)(text), n)}
	case duck.TypeDouble:
		return witness.Cell{Float: *(*float64)(unsafe.Add(data, 8*row))}
	}
	return witness.Cell{Int: *(*int64)(unsafe.Add(data, 8*row))}
}
