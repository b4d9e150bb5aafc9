package series

// alphabet is the characters of texts, in the order of their bytes.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MaxText is the length of the longest texts whose numbers fit into 63 bits.
const MaxText = 10

// MaxFreeText is the maximum number of bytes of a text of a free field.
const MaxFreeText = 1<<16 - 1

// Texts returns how many texts of a length, from 0 to MaxText, there are.
func Texts(length int) int64 {
	n := int64(1)
	for range length {
		n *= int64(len(alphabet))
	}
	return n
}

// AppendText appends the text of the given length that represents a number from 0 to below
// Texts(length): its digits to base 62, most significant first, written as 0 to 9, A to Z and a to
// z. Texts of one length sort like their numbers.
func AppendText(dst []byte, number int64, length int) []byte {
	var text [MaxText]byte
	for i := length - 1; i >= 0; i-- {
		rest := number / int64(len(alphabet))
		text[i] = alphabet[number-rest*int64(len(alphabet))]
		number = rest
	}
	return append(dst, text[:length]...)
}

// ParseText returns the number that a text of at most MaxText characters represents, and false if
// the text is longer or contains other characters.
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

// lengthBits is the number of bits in Ints that hold the length of a free text. The other bits hold
// its offset in Column.Bytes.
const lengthBits = 16

// SetText makes text the value of a row of a free field, whose bytes it copies. The text
// is no longer than MaxFreeText. What the row had before stays in memory until the batch
// is reset.
func (c *Column) SetText(row int, text []byte) {
	c.Ints[row] = int64(len(c.Bytes))<<lengthBits | int64(len(text))
	c.Bytes = append(c.Bytes, text...)
}

// Text returns the value that a free field has in a row, which is not NULL. It belongs to
// the column.
func (c *Column) Text(row int) []byte {
	at := c.Ints[row] >> lengthBits
	return c.Bytes[at : at+c.Ints[row]&MaxFreeText]
}

// AppendText appends the value that a field whose texts have a length, or a free one, of
// length 0, has in a row. It is not NULL there.
func (c *Column) AppendText(dst []byte, row, length int) []byte {
	if length > 0 {
		return AppendText(dst, c.Ints[row], length)
	}
	return append(dst, c.Text(row)...)
}

// TextLength returns how many bytes AppendText appends.
func (c *Column) TextLength(row, length int) int {
	if length > 0 {
		return length
	}
	return int(c.Ints[row] & MaxFreeText)
}
