//go:build !light

package columnar

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/tsmark/tsmark/workload/file/input"
)

// tens are the powers of ten that are doubles themselves.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// decimals reads decimals from a row on, each as the double next to it: 3 with scale 1 is
// 0.3, which the library's 3 × 0.1 is not.
func decimals(into []float64, column any, at int, scale int32) bool {
	switch a := column.(type) {
	case *array.Decimal32:
		for i := range into {
			into[i] = decimalOf(int64(a.Value(at+i)), scale)
		}
	case *array.Decimal64:
		for i := range into {
			into[i] = decimalOf(int64(a.Value(at+i)), scale)
		}
	case *array.Decimal128:
		for i := range into {
			v := a.Value(at + i)
			if low := int64(v.LowBits()); v.HighBits() == low>>63 {
				into[i] = decimalOf(low, scale)
			} else {
				into[i] = largeDecimal(v.BigInt(), scale)
			}
		}
	case *array.Decimal256:
		for i := range into {
			v := a.Value(at + i)
			low := int64(v.LowBits())
			if v.Array() == decimalWords(low) {
				into[i] = decimalOf(low, scale)
			} else {
				into[i] = largeDecimal(v.BigInt(), scale)
			}
		}
	default:
		return false
	}
	return true
}

// decimalWords returns a number as the words of a decimal of 256 bits.
func decimalWords(n int64) [4]uint64 {
	high := uint64(n >> 63)
	return [4]uint64{uint64(n), high, high, high}
}

func decimalOf(n int64, scale int32) float64 {
	if n <= input.MaxExact && n >= -input.MaxExact && scale >= 0 && int(scale) < len(tens) {
		return float64(n) / tens[scale] // two doubles, divided: rounded once
	}
	return largeDecimal(big.NewInt(n), scale)
}

// largeDecimal is decimalOf of any number. It allocates.
func largeDecimal(n *big.Int, scale int32) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	value := new(big.Rat)
	if scale < 0 {
		value.SetInt(n.Mul(n, power))
	} else {
		value.SetFrac(n, power)
	}
	v, _ := value.Float64()
	return v
}
