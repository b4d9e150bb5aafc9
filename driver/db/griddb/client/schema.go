package client

import (
	"encoding/binary"
	"fmt"
)

// Type is the type of a column.
type Type int8

// The types of columns that this client knows.
const (
	String         Type = 0
	Bool           Type = 1
	Byte           Type = 2
	Short          Type = 3
	Integer        Type = 4
	Long           Type = 5
	Float          Type = 6
	Double         Type = 7
	Timestamp      Type = 8 // milliseconds since 1970, not before it
	geometry       Type = 9
	Blob           Type = 10
	MicroTimestamp Type = 11 // TIMESTAMP(6)
	NanoTimestamp  Type = 12 // TIMESTAMP(9)
)

// String is the type as GridDB's users write it.
func (t Type) String() string {
	names := [...]string{"STRING", "BOOL", "BYTE", "SHORT", "INTEGER", "LONG", "FLOAT", "DOUBLE", "TIMESTAMP(3)", "GEOMETRY", "BLOB", "TIMESTAMP(6)", "TIMESTAMP(9)"}
	if t < 0 || int(t) >= len(names) {
		return fmt.Sprintf("Type(%d)", int8(t))
	}
	return names[t]
}

// width is the size in bytes of a value in the fixed part of a row; 0: the value is in the variable
// part.
func (t Type) width() int {
	switch t {
	case Bool, Byte:
		return 1
	case Short:
		return 2
	case Integer, Float:
		return 4
	case Long, Double, Timestamp, MicroTimestamp:
		return 8
	case NanoTimestamp:
		return 9
	}
	return 0
}

// Column is a column of a container.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
}

const (
	flagArray   = 1 << 0
	flagNotNull = 1 << 2
)

// Kind is the type of a container.
type Kind int8

// The types of containers.
const (
	Collection Kind = 0
	TimeSeries Kind = 1
	anyKind    Kind = -1
)

// Container is what a container looks like. The first Keys of its columns are its row
// key; a TimeSeries has one, a timestamp.
type Container struct {
	Name    string
	Type    Kind
	Columns []Column
	Keys    int

	// Its location, set by the server.
	Partition int
	ID        int64 // in its partition, given once and never again
	Version   int32 // of its columns

	rows *Layout // of answers
}

// AnyVersion makes statements run whatever the version of a container's columns.
const AnyVersion int32 = -2

// precise reports whether columns have types that servers before 5.3 do not know.
func precise(columns []Column) bool {
	for _, c := range columns {
		if c.Type == MicroTimestamp || c.Type == NanoTimestamp {
			return true
		}
	}
	return false
}

// appendSchema appends columns and row key.
func appendSchema(dst []byte, columns []Column, keys int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(columns)))
	for _, c := range columns {
		flags := byte(0)
		if c.NotNull {
			flags |= flagNotNull
		}
		dst = append(appendString(dst, c.Name), byte(c.Type), flags)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(keys))
	for i := range keys {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(i))
	}
	return dst
}

// schema reads columns and row key.
func (r *reader) schema() (columns []Column, keys int) {
	for range r.count(6) {
		c := Column{Name: r.string(), Type: Type(r.byte())}
		flags := r.byte()
		c.NotNull = flags&flagNotNull != 0
		if r.err == nil && (flags&flagArray != 0 || c.Type < String || c.Type > NanoTimestamp || c.Type == geometry) {
			r.err = fmt.Errorf("column %s has the type %v (flags %#x), which this client does not know", c.Name, c.Type, flags)
		}
		columns = append(columns, c)
	}
	keys = int(r.short())
	for range max(0, keys) {
		r.short()
	}
	if r.err == nil && (keys < 0 || keys > len(columns)) {
		r.err = fmt.Errorf("a row key of %d columns, of %d that there are", keys, len(columns))
	}
	return columns, keys
}
