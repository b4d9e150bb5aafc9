package pgwire

import (
	bigendian "encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/query"
)

// column is the type and the decoder of a column of a result.
type column struct {
	name   string
	decode decoder
}

// decoder decodes a value that is not NULL into dst, whose text may refer to src.
type decoder func(src []byte, dst *query.Value) error

// decoderOf returns the decoder of a type; nil: tsmark does not support it.
func decoderOf(oid uint32, format int16) decoder {
	if format == pgtype.TextFormatCode {
		return textDecoderOf(oid)
	}
	switch oid {
	case pgtype.Float8OID:
		return binaryFloat8
	case pgtype.Int8OID:
		return binaryInt8
	case pgtype.TimestamptzOID, pgtype.TimestampOID:
		return binaryTime
	case pgtype.DateOID:
		return binaryDate
	case pgtype.ByteaOID, pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.JSONOID:
		return text
	case pgtype.Int4OID:
		return binaryInt4
	case pgtype.Int2OID:
		return binaryInt2
	case pgtype.OIDOID:
		return binaryOID
	case pgtype.Float4OID:
		return binaryFloat4
	case pgtype.NumericOID:
		return binaryNumeric
	case pgtype.BoolOID:
		return binaryBool
	}
	return nil
}

func text(src []byte, dst *query.Value) error {
	*dst = query.Value{Kind: query.Text, Text: src}
	return nil
}

// fixedSize returns the decoder of a type whose values all have the same size and are all valid.
func fixedSize(size int, read func(src []byte, dst *query.Value)) decoder {
	return func(src []byte, dst *query.Value) error {
		if len(src) != size {
			return sizeError(src, size)
		}
		read(src, dst)
		return nil
	}
}

var (
	binaryFloat8 = fixedSize(8, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Float, Float: math.Float64frombits(bigendian.BigEndian.Uint64(src))}
	})
	binaryFloat4 = fixedSize(4, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Float, Float: float64(math.Float32frombits(bigendian.BigEndian.Uint32(src)))}
	})
	binaryInt8 = fixedSize(8, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Int, Int: int64(bigendian.BigEndian.Uint64(src))}
	})
	binaryInt4 = fixedSize(4, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Int, Int: int64(int32(bigendian.BigEndian.Uint32(src)))}
	})
	binaryOID = fixedSize(4, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Int, Int: int64(bigendian.BigEndian.Uint32(src))}
	})
	binaryInt2 = fixedSize(2, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Int, Int: int64(int16(bigendian.BigEndian.Uint16(src)))}
	})
	binaryBool = fixedSize(1, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Int, Int: int64(src[0])}
	})
	binaryDate = fixedSize(4, func(src []byte, dst *query.Value) {
		*dst = query.Value{Kind: query.Date, Int: int64(int32(bigendian.BigEndian.Uint32(src))) + epochDay}
	})
)

// sizeError means that a value does not have the size of its type.
func sizeError(src []byte, want int) error {
	return fmt.Errorf("the value has %d bytes where its type has %d", len(src), want)
}

// epoch is 2000-01-01, from which PostgreSQL counts microseconds, in microseconds since 1970.
const epoch = 946_684_800_000_000

var errYears = errors.New("the time is not between the years 1678 and 2261")

func binaryTime(src []byte, dst *query.Value) error {
	if len(src) != 8 {
		return sizeError(src, 8)
	}
	micros := int64(bigendian.BigEndian.Uint64(src))
	// Infinities are the largest and the smallest number.
	if micros > math.MaxInt64/1000-epoch || micros < math.MinInt64/1000-epoch {
		return errYears
	}
	*dst = query.Value{Kind: query.Time, Int: (micros + epoch) * 1000}
	return nil
}

// epochDay is 2000-01-01, from which PostgreSQL counts days, in days since 1970.
const epochDay = 10_957

// The values in the sign field of numeric other than plus.
const (
	numericNegative = 0x4000
	numericNaN      = 0xc000
	numericInf      = 0xd000
	numericNegInf   = 0xf000
)

// binaryNumeric decodes a decimal number to the closest double. The wire format has digits in base
// 10,000; the first one has the weight 10,000^weight.
func binaryNumeric(src []byte, dst *query.Value) error {
	if len(src) < 8 {
		return sizeError(src, 8)
	}
	be := bigendian.BigEndian
	digits, weight, sign := int(be.Uint16(src)), int(int16(be.Uint16(src[2:]))), be.Uint16(src[4:])
	if len(src) != 8+2*digits {
		return sizeError(src, 8+2*digits)
	}
	*dst = query.Value{Kind: query.Float}
	switch sign {
	case numericNaN:
		dst.Float = math.NaN()
		return nil
	case numericInf:
		dst.Float = math.Inf(1)
		return nil
	case numericNegInf:
		dst.Float = math.Inf(-1)
		return nil
	}
	var memory [128]byte
	number := memory[:0]
	if sign == numericNegative {
		number = append(number, '-')
	}
	number = append(number, '0')
	for i := range digits {
		d := be.Uint16(src[8+2*i:])
		number = append(number, '0'+byte(d/1000), '0'+byte(d/100%10), '0'+byte(d/10%10), '0'+byte(d%10))
	}
	number = append(number, 'e')
	number = strconv.AppendInt(number, int64(4*(weight+1-digits)), 10)
	var err error
	dst.Float, err = strconv.ParseFloat(view(number), 64)
	return err
}

// view returns bytes as a string without copying; the string must not outlive them.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
