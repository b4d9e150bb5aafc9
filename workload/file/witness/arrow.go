package witness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// arrowReader decodes Arrow's IPC format, files and streams, as its specification says
// (Message.fbs, Schema.fbs, File.fbs). It knows the types that are loaded; of others it
// knows how many buffers they have.
type arrowReader struct {
	file *File
	most int64 // bytes that a message, and the buffers of a batch, may have in memory
}

func openArrow(f *File) (reader, error) { return arrowReader{f, 1 << 30}, nil }

func (arrowReader) name() string { return "a second decoder of Arrow" }

// Constants of the format.
const (
	arrowMagic   = "ARROW1"
	continuation = 0xffffffff

	headerSchema, headerDictionary, headerRecords = 1, 2, 3

	typeNull, typeInt, typeFloat, typeBinary, typeText, typeBool, typeDecimal, typeDate   = 1, 2, 3, 4, 5, 6, 7, 8
	typeTimestamp, typeList, typeStruct, typeUnion, typeFixedList, typeMap                = 10, 12, 13, 14, 16, 17
	typeLargeBinary, typeLargeText, typeLargeList, typeRuns, typeBinaryView, typeTextView = 19, 20, 21, 22, 23, 24
	typeListView, typeLargeListView                                                       = 25, 26
)

// table is a table of FlatBuffers: a place in a buffer.
type table struct {
	buf []byte
	at  int
}

func root(buf []byte) table { return table{buf, int(binary.LittleEndian.Uint32(buf))} }

// slot returns the offset of a field; 0: the field is missing.
func (t table) slot(i int) int {
	vtable := t.at - int(int32(binary.LittleEndian.Uint32(t.buf[t.at:])))
	if 4+2*i >= int(binary.LittleEndian.Uint16(t.buf[vtable:])) {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(t.buf[vtable+4+2*i:])); offset > 0 {
		return t.at + offset
	}
	return 0
}

// number reads a signed integer field of size bytes.
func (t table) number(i, size int, otherwise int64) int64 {
	at := t.slot(i)
	if at == 0 {
		return otherwise
	}
	return integer(t.buf[at:], size, true)
}

// integer reads a little-endian number.
func integer(b []byte, size int, signed bool) int64 {
	switch n := uint64(0); size {
	case 1:
		if n = uint64(b[0]); signed {
			return int64(int8(n))
		}
		return int64(n)
	case 2:
		if n = uint64(binary.LittleEndian.Uint16(b)); signed {
			return int64(int16(n))
		}
		return int64(n)
	case 4:
		if n = uint64(binary.LittleEndian.Uint32(b)); signed {
			return int64(int32(n))
		}
		return int64(n)
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// table returns a field that is a table; its offset is 0 if the field is missing.
func (t table) table(i int) table {
	at := t.slot(i)
	if at == 0 {
		return table{}
	}
	return table{t.buf, at + int(binary.LittleEndian.Uint32(t.buf[at:]))}
}

// vector returns where the elements of a field that is a vector begin, and their number.
func (t table) vector(i int) (begin, n int) {
	at := t.slot(i)
	if at == 0 {
		return 0, 0
	}
	at += int(binary.LittleEndian.Uint32(t.buf[at:]))
	begin, n = at+4, int(binary.LittleEndian.Uint32(t.buf[at:]))
	if n > len(t.buf)-begin {
		panic("a vector is longer than its message")
	}
	return begin, n
}

func (t table) tables(i int) []table {
	begin, n := t.vector(i)
	var all []table
	for at := begin; at < begin+4*n; at += 4 {
		all = append(all, table{t.buf, at + int(binary.LittleEndian.Uint32(t.buf[at:]))})
	}
	return all
}

// arrowField is a column of a schema.
type arrowField struct {
	name       []byte
	kind       int   // type…
	size       int   // bytes of a value, of numbers and decimals
	signed     bool  // of whole numbers
	scale      int64 // of decimals
	unit       int64 // of times, in nanoseconds
	children   []arrowField
	dense      bool        // of unions
	dictionary int64       // -1: none
	index      *arrowField // of values in the dictionary
}

// Limits of decimals: the bytes of Arrow's largest one, and a scale that exceeds any database's.
const maxDecimal, maxScale = 32, 1000

// sizeOfInt returns the bytes of a whole number.
func sizeOfInt(of table) int {
	switch bits := of.number(0, 4, 0); bits {
	case 8, 16, 32, 64:
		return int(bits) / 8
	default:
		panic(fmt.Sprintf("whole numbers have %d bits", bits))
	}
}

func fieldOf(t table) arrowField {
	begin, n := t.vector(0)
	f := arrowField{name: t.buf[begin : begin+n], kind: int(t.number(2, 1, 0)), dictionary: -1}
	of := t.table(3)
	switch f.kind {
	case typeInt:
		f.size, f.signed = sizeOfInt(of), of.number(1, 1, 0) != 0
	case typeFloat:
		f.size = 2 << of.number(0, 2, 0)
	case typeDecimal:
		f.scale, f.size = of.number(1, 4, 0), int(of.number(2, 4, 128))/8
		if f.size < 1 || f.size > maxDecimal {
			panic(fmt.Sprintf("column %q has decimals of %d bytes, and it reads at most %d", f.name, f.size, maxDecimal))
		}
		if f.scale < -maxScale || f.scale > maxScale {
			panic(fmt.Sprintf("column %q has decimals of scale %d, and it reads at most %d", f.name, f.scale, maxScale))
		}
	case typeDate:
		f.size = 4
		if of.number(0, 2, 1) == 1 {
			f.size = 8
		}
	case typeTimestamp:
		f.size, f.unit = 8, 1e9
		for range of.number(0, 2, 0) {
			f.unit /= 1000
		}
	case typeUnion:
		f.dense = of.number(0, 2, 0) == 1
	}
	for _, child := range t.tables(5) {
		f.children = append(f.children, fieldOf(child))
	}
	if d := t.table(4); d.at > 0 {
		f.dictionary = d.number(0, 8, 0)
		f.index = &arrowField{kind: typeInt, size: 4, signed: true, dictionary: -1}
		if i := d.table(1); i.at > 0 {
			f.index.size, f.index.signed = sizeOfInt(i), i.number(1, 1, 0) != 0
		}
	}
	return f
}

// arrowArray is the values of a field in a batch.
type arrowArray struct {
	field   *arrowField
	rows    int64
	buffers [][]byte // without the validity buffer
	valid   []byte   // nil: all are
	from    []arrowArray
}

// decoder is the state of reading a file.
type decoder struct {
	fields       []arrowField
	dictionaries map[int64][]arrowArray // by number, each of one or more pieces

	most    int64 // as arrowReader's
	left    int64 // of that, for dictionaries
	zstd    *zstd.Decoder
	checks  bool // metadata alone is looked at
	checked int  // fields
	texts   int  // bytes of names and notes
}

// batch is a batch that is being taken apart.
type batch struct {
	of      table
	body    []byte
	node    int
	buffer  int
	counts  int // of variadic buffers that were used
	codec   int64
	left    *int64 // bytes that its buffers may still have when they are decompressed
	decoder *decoder
}

func (d *decoder) batch(of table, body []byte, left *int64) *batch {
	checkBatch(of)
	b := &batch{of: of, body: body, codec: -1, left: left, decoder: d}
	if c := of.table(3); c.at > 0 {
		b.codec = c.number(0, 1, 0)
	}
	return b
}

// next returns the next buffer, decompressed.
func (b *batch) next() []byte {
	begin, n := b.of.vector(2)
	if b.buffer >= n {
		panic("a batch lacks buffers")
	}
	at := begin + 16*b.buffer
	b.buffer++
	offset, size := integer(b.of.buf[at:], 8, true), integer(b.of.buf[at+8:], 8, true)
	raw := b.body[offset : offset+size]
	if b.codec < 0 || size == 0 {
		return raw
	}
	whole := integer(raw, 8, true)
	if raw = raw[8:]; whole == -1 {
		return raw
	}
	if whole < 0 || whole > *b.left {
		panic(fmt.Sprintf("a batch, or all dictionaries, have more than %d MiB when they are decompressed; write smaller batches to have them compared", b.decoder.most>>20))
	}
	*b.left -= whole
	from := b.decoder.decompress(raw, b.codec)
	out, err := exactly(from, whole)
	if err != nil {
		panic(fmt.Sprintf("decompressing a buffer: %v", err))
	}
	return out
}

// close frees what decompresses.
func (d *decoder) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// decompress reads a buffer that is compressed by LZ4 or zstd.
func (d *decoder) decompress(raw []byte, codec int64) io.Reader {
	if codec != 1 {
		return lz4.NewReader(bytes.NewReader(raw))
	}
	var err error
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(min(d.most, zstd.MaxWindowSize))))
	}
	if err == nil {
		err = d.zstd.Reset(bytes.NewReader(raw))
	}
	if err != nil {
		panic(err)
	}
	return d.zstd
}

// array takes the next array of a field.
func (b *batch) array(f *arrowField) arrowArray {
	if f.index != nil && f.dictionary >= 0 {
		a := b.array(f.index)
		a.from = b.decoder.dictionaries[f.dictionary]
		return a
	}
	begin, n := b.of.vector(1)
	if b.node >= n {
		panic("a batch lacks nodes")
	}
	a := arrowArray{field: f, rows: integer(b.of.buf[begin+16*b.node:], 8, true)}
	nulls := integer(b.of.buf[begin+16*b.node+8:], 8, true)
	b.node++
	buffers := 1
	switch f.kind {
	case typeNull, typeRuns, typeUnion:
		buffers = 0
		if f.kind == typeUnion {
			if b.next(); f.dense {
				b.next()
			}
		}
	default:
		if valid := b.next(); nulls != 0 {
			a.valid = valid
		}
		switch f.kind {
		case typeStruct, typeFixedList:
			buffers = 0
		case typeBinary, typeText, typeLargeBinary, typeLargeText, typeListView, typeLargeListView:
			buffers = 2
		case typeBinaryView, typeTextView:
			at, _ := b.of.vector(4)
			buffers = 1 + int(integer(b.of.buf[at+8*b.counts:], 8, true))
			b.counts++
		}
	}
	for range buffers {
		a.buffers = append(a.buffers, b.next())
	}
	for i := range f.children {
		b.array(&f.children[i])
	}
	return a
}

// get reads the value of a row.
func (a *arrowArray) get(v *value, row int64) {
	f := a.field
	if f.kind == typeNull || len(a.valid) > 0 && a.valid[row/8]>>(row%8)&1 == 0 {
		v.kind = isNull
		return
	}
	v.kind = isAbsent
	switch f.kind {
	case typeInt:
		v.kind, v.int = isInt, integer(a.buffers[0][row*int64(f.size):], f.size, f.signed)
		if !f.signed && f.size == 8 && v.int < 0 {
			v.kind, v.text = isDigits, strconv.AppendUint(nil, uint64(v.int), 10)
		}
	case typeFloat:
		b := a.buffers[0][row*int64(f.size):]
		switch v.kind = isSingle; f.size {
		case 2:
			v.float = half(binary.LittleEndian.Uint16(b))
		case 4:
			v.float = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		default:
			v.kind, v.float = isFloat, math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case typeBool:
		v.kind, v.int = isBool, int64(a.buffers[0][row/8]>>(row%8)&1)
	case typeDecimal:
		v.kind, v.text = isDigits, decimal(a.buffers[0][row*int64(f.size):][:f.size], f.scale)
	case typeDate:
		v.kind, v.int = isDay, integer(a.buffers[0][row*int64(f.size):], f.size, true)
		if f.size == 8 {
			const day = nsOfDay / 1e6
			v.int = (v.int - (v.int%day+day)%day) / day
		}
	case typeTimestamp:
		v.kind, v.int, v.unit = isTime, integer(a.buffers[0][row*8:], 8, true), f.unit
	case typeBinary, typeText:
		from, to := integer(a.buffers[0][4*row:], 4, false), integer(a.buffers[0][4*row+4:], 4, false)
		v.kind, v.text = isText, a.buffers[1][from:to]
	case typeLargeBinary, typeLargeText:
		from, to := integer(a.buffers[0][8*row:], 8, true), integer(a.buffers[0][8*row+8:], 8, true)
		v.kind, v.text = isText, a.buffers[1][from:to]
	case typeBinaryView, typeTextView:
		of := a.buffers[0][16*row:][:16]
		n := integer(of, 4, false)
		if v.kind, v.text = isText, of[4:]; n > 12 {
			in, at := integer(of[8:], 4, false), integer(of[12:], 4, false)
			v.text = a.buffers[1+in][at:]
		}
		v.text = v.text[:n]
	}
	if a.from != nil && v.kind == isInt {
		at := v.int
		for i := range a.from {
			if at < a.from[i].rows {
				a.from[i].get(v, at)
				return
			}
			at -= a.from[i].rows
		}
		panic("a value is not in its dictionary")
	}
}

// half is a float of 16 bits.
func half(bits uint16) float64 {
	exponent, mantissa := int(bits>>10&0x1f), float64(bits&0x3ff)
	v := 0.0
	switch exponent {
	case 0:
		v = math.Ldexp(mantissa, -24)
	case 0x1f:
		if v = math.Inf(1); mantissa != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+mantissa, exponent-25)
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

// decimal writes a number of two's complement, the lowest byte first, with a scale.
func decimal(little []byte, scale int64) []byte {
	big1 := make([]byte, len(little))
	for i, b := range little {
		big1[len(little)-1-i] = b
	}
	n := new(big.Int).SetBytes(big1)
	if big1[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(little))))
	}
	return append(n.Append(nil, 10), "e"+strconv.FormatInt(-scale, 10)...)
}
