// Package columnar reads Parquet and Arrow. A tsmark that was built with the tag light has only its
// constants.
package columnar

// The first bytes of files of record batches; those of Parquet are its last ones, too.
const (
	MagicParquet = "PAR1"
	MagicArrow   = "ARROW1"
)

// DigitsOfFloats is the number of decimal digits that every float preserves.
const DigitsOfFloats = 15
