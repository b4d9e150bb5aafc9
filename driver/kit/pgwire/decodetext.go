package pgwire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/query"
)

// textDecoderOf returns the decoder of a type in text format. Types other than numbers and times are
// decoded as texts.
func textDecoderOf(oid uint32) decoder {
	switch oid {
	case pgtype.Float8OID, pgtype.NumericOID:
		return textFloat
	case pgtype.Float4OID:
		return textSingle
	case pgtype.DateOID:
		return textDate
	case pgtype.ByteaOID:
		return textBytes
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.OIDOID:
		return textInt
	case pgtype.TimestamptzOID, pgtype.TimestampOID:
		return textTime
	case pgtype.BoolOID:
		return textBool
	}
	return text
}

func textFloat(src []byte, dst *query.Value) (err error) {
	*dst = query.Value{Kind: query.Float}
	dst.Float, err = strconv.ParseFloat(view(src), 64) // Infinity and NaN as well
	return copyError(err)
}

// textSingle decodes the shortest digits that identify a single. The double nearest to these digits may
// differ from it.
func textSingle(src []byte, dst *query.Value) (err error) {
	*dst = query.Value{Kind: query.Float}
	dst.Float, err = strconv.ParseFloat(view(src), 32)
	return copyError(err)
}

// textDate decodes dates in PostgreSQL's format for DateStyle ISO, 2016-01-01.
func textDate(src []byte, dst *query.Value) error {
	at, err := time.Parse(time.DateOnly, view(src))
	if err != nil {
		return fmt.Errorf("%q is not a date of the form 2006-01-02", src)
	}
	*dst = query.Value{Kind: query.Date, Int: at.Unix() / (24 * 60 * 60)}
	return nil
}

// textBytes decodes bytes in PostgreSQL's format for bytea_output hex, \x6f6b, in place.
func textBytes(src []byte, dst *query.Value) error {
	digits, ok := bytes.CutPrefix(src, []byte(`\x`))
	if !ok {
		return fmt.Errorf("%q is not hexadecimal", src)
	}
	n, err := hex.Decode(src, digits)
	if err != nil {
		return fmt.Errorf("%q is not hexadecimal", digits)
	}
	*dst = query.Value{Kind: query.Text, Text: src[:n]}
	return nil
}

func textInt(src []byte, dst *query.Value) (err error) {
	*dst = query.Value{Kind: query.Int}
	dst.Int, err = strconv.ParseInt(view(src), 10, 64)
	return copyError(err)
}

// copyError returns an error that does not refer to the memory of the value.
func copyError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s", err)
}

func textBool(src []byte, dst *query.Value) error {
	*dst = query.Value{Kind: query.Int}
	switch string(src) {
	case "t", "true":
		dst.Int = 1
	case "f", "false":
	default:
		return fmt.Errorf("%q is not a boolean", src)
	}
	return nil
}

// textTime decodes times in UTC in PostgreSQL's format for DateStyle ISO, 2016-01-01 00:00:00.5+00, and
// in QuestDB's, with T and Z.
func textTime(src []byte, dst *query.Value) error {
	const seconds = "2006-01-02 15:04:05"
	s := src
	if len(s) < len(seconds) || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return timeError(src)
	}
	year, month, day := decimal(s[:4]), decimal(s[5:7]), decimal(s[8:10])
	hour, minute, second := decimal(s[11:13]), decimal(s[14:16]), decimal(s[17:19])
	if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return timeError(src)
	}
	fraction := 0
	if s = s[len(seconds):]; len(s) > 0 && s[0] == '.' {
		n := 1
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if fraction = decimal(s[1:n]); fraction < 0 || n > 10 {
			return timeError(src)
		}
		for digits := n - 1; digits < 9; digits++ {
			fraction *= 10
		}
		s = s[n:]
	}
	switch string(s) {
	case "", "Z", "+00", "+00:00":
	default: // another zone, or BC
		return timeError(src)
	}
	if year < 1678 || year > 2261 {
		return errYears
	}
	at := time.Date(year, time.Month(month), day, hour, minute, second, fraction, time.UTC)
	if at.Day() != day {
		return timeError(src) // for example February 30
	}
	*dst = query.Value{Kind: query.Time, Int: at.UnixNano()}
	return nil
}

func timeError(src []byte) error {
	return fmt.Errorf("%q is not a time in UTC of the form 2006-01-02 15:04:05", src)
}

// decimal returns the number with the given digits; -1: not digits, empty, or too long.
func decimal(digits []byte) int {
	if len(digits) == 0 || len(digits) > 9 {
		return -1
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return -1
		}
		n = n*10 + int(d-'0')
	}
	return n
}
