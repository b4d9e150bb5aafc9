// Package number reads numbers from text without allocating.
package number

import (
	"math"
	"strconv"
	"unsafe"
)

// Int reads a whole number that fits 64 bits with a sign.
func Int(text []byte) (int64, bool) {
	digits := text
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	n := uint64(0) // 19 digits cannot overflow it
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}

// exactPowers are the powers of ten that are doubles themselves.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Float reads a decimal number, NaN, or an infinity.
//
// A number of at most 15 digits is an integer that a double holds exactly,
// divided by a power of ten that another one does: one correctly rounded
// division.
func Float(text []byte) (float64, bool) {
	digits := text
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		digits = text[1:]
	}
	if len(digits) > 0 && len(digits) <= 16 {
		n, point, seen := uint64(0), -1, 0
		i := 0
		for ; i < len(digits); i++ {
			c := digits[i] - '0'
			if c <= 9 {
				n = n*10 + uint64(c)
				seen++
			} else if digits[i] == '.' && point < 0 {
				point = i
			} else {
				break
			}
		}
		if i == len(digits) && seen > 0 && seen <= 15 {
			v := float64(n)
			if point >= 0 {
				v /= exactPowers[len(digits)-1-point]
			}
			if negative {
				v = -v
			}
			return v, true
		}
	}
	return anyFloat(text)
}

// anyFloat reads what Float's shorter way does not.
func anyFloat(text []byte) (float64, bool) {
	switch string(text) {
	case "NaN":
		return math.NaN(), true
	case "+Inf":
		return math.Inf(1), true
	case "-Inf":
		return math.Inf(-1), true
	}
	for _, c := range text { // no hexadecimals, no underscores, no other names
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	return v, err == nil
}

// NotFinite reads what programs write for a float that is not finite, in any case: nan, inf,
// infinity, and what C's printf writes on Windows, such as 1.#QNAN and -nan(ind).
func NotFinite(text []byte) (float64, bool) {
	digits := text
	negative := len(text) > 0 && text[0] == '-'
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	if len(digits) < 3 || len(digits) > len("nan(snan)") || digits[0] != '1' && digits[0]|0x20 != 'n' && digits[0]|0x20 != 'i' {
		return 0, false
	}
	for _, name := range [...]string{"nan", "nan(ind)", "nan(snan)", "1.#nan", "1.#qnan", "1.#snan", "1.#ind"} {
		if equalFold(digits, name) {
			return math.NaN(), true
		}
	}
	for _, name := range [...]string{"inf", "infinity", "1.#inf"} {
		if equalFold(digits, name) {
			if negative {
				return math.Inf(-1), true
			}
			return math.Inf(1), true
		}
	}
	return 0, false
}

// equalFold reports whether a text is a word of small letters, in any case.
func equalFold(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// Bool reads the words of a boolean, as 0 or 1, that line protocol knows.
func Bool(text []byte) (int64, bool) {
	switch string(text) {
	case "t", "T", "true", "True", "TRUE":
		return 1, true
	case "f", "F", "false", "False", "FALSE":
		return 0, true
	}
	return 0, false
}
