package series

// alphabet is the characters of texts, in the order of their bytes.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MaxText is the length of the longest texts whose numbers fit into 63 bits.
const MaxText = 10

// Texts returns how many texts of a length, from 0 to MaxText, there are.
func Texts(length int) int64 {
	n := int64(1)
	for range length {
		n *= int64(len(alphabet))
	}
	return n
}

// AppendText appends the text of so many characters that a number from 0 to
// below Texts(length) stands for: its digits to the base 62, the first one
// first, written as 0 to 9, A to Z and a to z. Texts of one length are in the
// order of their numbers.
func AppendText(dst []byte, number int64, length int) []byte {
	var text [MaxText]byte
	for i := length - 1; i >= 0; i-- {
		rest := number / int64(len(alphabet))
		text[i] = alphabet[number-rest*int64(len(alphabet))]
		number = rest
	}
	return append(dst, text[:length]...)
}

// ParseText returns the number that a text of at most MaxText characters stands
// for, and false for a longer one or one with other characters.
func ParseText(text []byte) (number int64, ok bool) {
	if len(text) > MaxText {
		return 0, false
	}
	for _, c := range text {
		digit := int64(0)
		switch {
		case c >= '0' && c <= '9':
			digit = int64(c - '0')
		case c >= 'A' && c <= 'Z':
			digit = int64(c-'A') + 10
		case c >= 'a' && c <= 'z':
			digit = int64(c-'a') + 36
		default:
			return 0, false
		}
		number = number*int64(len(alphabet)) + digit
	}
	return number, true
}
