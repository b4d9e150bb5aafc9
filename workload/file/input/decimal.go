package input

import "bytes"

// DecimalOf returns the character for decimals that a number shows, comma or point; 0: it shows none,
// or may be of either kind, as 1,234 is.
func DecimalOf(text []byte) byte {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	at := bytes.LastIndexAny(text, ",.")
	if at <= 0 || !WholeText(text[at+1:]) || text[at+1] == '-' {
		return 0
	}
	whole, decimal := text[:at], text[at]
	other := byte(',' + '.' - decimal)
	switch {
	case bytes.IndexByte(whole, other) >= 0:
		if grouped(whole, other) {
			return decimal
		}
	case !WholeText(whole):
	case len(text)-at != len(",000") || whole[0] == '0' || len(whole) > 3:
		return decimal
	}
	return 0
}

// grouped reports whether a text is digits with a separator between thousands.
func grouped(text []byte, separator byte) bool {
	if len(text) == 0 || text[0] == separator || text[0] == '-' {
		return false
	}
	for i, b := range text {
		if fromEnd := len(text) - i; b == separator != (fromEnd%4 == 0) || b != separator && (b < '0' || b > '9') {
			return false
		}
	}
	return true
}

// AppendPoint appends a number with a comma for decimals, and points between thousands, as one with a
// point. Other texts are unchanged; ok is false for a number that has a point for decimals.
func AppendPoint(dst, text []byte) (_ []byte, ok bool) {
	whole, fraction, hasComma := bytes.Cut(text, []byte{','})
	sign := whole[:0]
	if len(whole) > 0 && (whole[0] == '-' || whole[0] == '+') {
		sign, whole = whole[:1], whole[1:]
	}
	groups := bytes.IndexByte(whole, '.') >= 0
	if groups && !grouped(whole, '.') || hasComma && (len(fraction) == 0 || fraction[0] < '0' || fraction[0] > '9') {
		return append(dst, text...), !IsNumber(text)
	}
	dst = append(dst, sign...)
	for _, b := range whole {
		if b != '.' || !groups {
			dst = append(dst, b)
		}
	}
	if hasComma {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst, true
}
