package pgwire

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/query"
)

func value(t *testing.T, oid uint32, format int16, src []byte) (query.Value, error) {
	t.Helper()
	decode := decoderOf(oid, format)
	if decode == nil {
		t.Fatalf("type %d is not read", oid)
	}
	var v query.Value
	err := decode(src, &v)
	return v, err
}

// Values as the driver's own encoder writes them come back as they were.
func TestBinary(t *testing.T) {
	types := pgtype.NewMap()
	for _, c := range []struct {
		oid  uint32
		in   any
		want query.Value
	}{
		{pgtype.Float8OID, math.MaxFloat64, query.Value{Kind: query.Float, Float: math.MaxFloat64}},
		{pgtype.Float8OID, math.Inf(-1), query.Value{Kind: query.Float, Float: math.Inf(-1)}},
		{pgtype.Float4OID, float32(0.1), query.Value{Kind: query.Float, Float: float64(float32(0.1))}},
		{pgtype.Int8OID, int64(math.MinInt64), query.Value{Kind: query.Int, Int: math.MinInt64}},
		{pgtype.Int4OID, int32(-7), query.Value{Kind: query.Int, Int: -7}},
		{pgtype.Int2OID, int16(-7), query.Value{Kind: query.Int, Int: -7}},
		{pgtype.OIDOID, uint32(math.MaxUint32), query.Value{Kind: query.Int, Int: math.MaxUint32}},
		{pgtype.BoolOID, true, query.Value{Kind: query.Int, Int: 1}},
		{pgtype.DateOID, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), query.Value{Kind: query.Date, Int: -1}},
		{pgtype.ByteaOID, []byte("o\x00k"), query.Value{Kind: query.Text, Text: []byte("o\x00k")}},
		{pgtype.TextOID, "it's", query.Value{Kind: query.Text, Text: []byte("it's")}},
		{pgtype.TimestamptzOID, time.Unix(-1, 1000).UTC(), query.Value{Kind: query.Time, Int: -999_999_000}},
		{pgtype.TimestampOID, time.Date(2261, 12, 31, 0, 0, 0, 0, time.UTC), query.Value{Kind: query.Time, Int: time.Date(2261, 12, 31, 0, 0, 0, 0, time.UTC).UnixNano()}},
	} {
		src, err := types.Encode(c.oid, pgtype.BinaryFormatCode, c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value(t, c.oid, pgtype.BinaryFormatCode, src)
		if err != nil || got.Kind != c.want.Kind || got.String() != c.want.String() {
			t.Errorf("%v of type %d: %v, %v", c.in, c.oid, got, err)
		}
		if c.oid == pgtype.TextOID || c.oid == pgtype.ByteaOID {
			continue
		}
		if _, err := value(t, c.oid, pgtype.BinaryFormatCode, src[1:]); err == nil {
			t.Errorf("type %d: a value that is too short is taken", c.oid)
		}
	}
	for _, oid := range []uint32{pgtype.JSONBOID, pgtype.Float8ArrayOID, pgtype.UUIDOID} {
		if decoderOf(oid, pgtype.BinaryFormatCode) != nil {
			t.Errorf("type %d is read", oid)
		}
	}
}

func TestInfiniteTimes(t *testing.T) {
	for _, src := range []string{"\x7f\xff\xff\xff\xff\xff\xff\xff", "\x80\x00\x00\x00\x00\x00\x00\x00"} {
		if _, err := value(t, pgtype.TimestamptzOID, pgtype.BinaryFormatCode, []byte(src)); err != errYears {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// FuzzNumeric: the digits of a decimal number are the double that Go reads.
func FuzzNumeric(f *testing.F) {
	for _, s := range []string{"0", "1", "-1", "0.1", "1234567890123456789", "-0.000012345", "1e300", "1e-300", "99999999.00000001", "10000", "0.50000"} {
		f.Add(s)
	}
	types := pgtype.NewMap()
	f.Fuzz(func(t *testing.T, s string) {
		var n pgtype.Numeric
		if n.Scan(s) != nil || !n.Valid || len(s) > 500 || n.Exp > 2000 || n.Exp < -2000 {
			return
		}
		want, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "_xXpP") {
			return
		}
		src, err := types.Encode(pgtype.NumericOID, pgtype.BinaryFormatCode, n, nil)
		if err != nil {
			return
		}
		got, err := value(t, pgtype.NumericOID, pgtype.BinaryFormatCode, src)
		if err != nil || got.Float != want && !(math.IsNaN(want) && math.IsNaN(got.Float)) {
			t.Errorf("%s: %v, %v; want %v", s, got.Float, err, want)
		}
	})
}

// FuzzTextTime checks that times are decoded as package time parses them.
func FuzzTextTime(f *testing.F) {
	for _, s := range []string{
		"2016-01-01 00:00:00+00", "1969-12-31 23:59:59.999999+00", "2016-02-29 12:30:45.5", "2016-01-01T00:00:00.000000Z",
		"2016-02-30 00:00:00", "2016-01-01 24:00:00", "infinity", "0044-03-15 00:00:00+00 BC", "2016-01-01 00:00:00+02", "2016-01-01 00:00:00.",
		"2016-01-01 00:00:00.1234567890", "2000-01-01 00:00:00Z", "2000-01-01 00:00:00+00:00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := value(t, pgtype.TimestamptzOID, pgtype.TextFormatCode, []byte(s))
		plain := s
		for _, utc := range []string{"Z", "+00:00", "+00"} {
			if before, is := strings.CutSuffix(s, utc); is {
				plain = before
				break
			}
		}
		want, wrong := time.Parse("2006-01-02 15:04:05", strings.Replace(plain, "T", " ", 1))
		if err == nil && (wrong != nil || got.Int != want.UnixNano()) {
			t.Errorf("%q is read as %v; package time says %v, %v", s, got, want, wrong)
		}
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		oid  uint32
		in   string
		want string // of the value; empty: an error
		kind query.Kind
	}{
		{pgtype.Float8OID, "0.1", "0.1", query.Float}, {pgtype.Float8OID, "-Infinity", "-Inf", query.Float}, {pgtype.NumericOID, "12.50", "12.5", query.Float},
		{pgtype.Float8OID, "x", "", query.Null}, {pgtype.Int8OID, "-9223372036854775808", "-9223372036854775808", query.Int},
		{pgtype.Int4OID, "1.5", "", query.Null}, {pgtype.BoolOID, "t", "1", query.Int}, {pgtype.BoolOID, "f", "0", query.Int}, {pgtype.BoolOID, "yes", "", query.Null},
		{pgtype.TimestamptzOID, "2016-01-01 10:00:00.25+00", "2016-01-01T10:00:00.25Z", query.Time},
		{pgtype.TimestampOID, "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z", query.Time},
		{pgtype.TimestampOID, "2016-02-30 00:00:00", "", query.Null}, {pgtype.TimestampOID, "1600-01-01 00:00:00", "", query.Null},
		{pgtype.TimestamptzOID, "2016-01-01 10:00:00+02", "", query.Null}, {pgtype.TimestamptzOID, "infinity", "", query.Null},
		{pgtype.Float4OID, "0.1", "0.10000000149011612", query.Float}, {pgtype.Float4OID, "x", "", query.Null},
		{pgtype.DateOID, "1969-12-31", "1969-12-31", query.Date}, {pgtype.DateOID, "2016-02-30", "", query.Null}, {pgtype.DateOID, "infinity", "", query.Null},
		{pgtype.ByteaOID, `\x6f006b`, "o\x00k", query.Text}, {pgtype.ByteaOID, `ok`, "", query.Null}, {pgtype.ByteaOID, `\x6`, "", query.Null},
		{pgtype.VarcharOID, "it's", "it's", query.Text}, {pgtype.JSONOID, "{}", "{}", query.Text},
	} {
		got, err := value(t, c.oid, pgtype.TextFormatCode, []byte(c.in))
		if (err != nil) != (c.want == "") || err == nil && (got.String() != c.want || got.Kind != c.kind) {
			t.Errorf("%q of type %d: %v, %v", c.in, c.oid, got, err)
		}
	}
}
