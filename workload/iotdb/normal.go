package iotdb

import "math"

// normal returns the standard normal variable whose distribution function is u,
// from above 0 to below 1: algorithm AS 241, PPND16 (Wichura, "The percentage
// points of the normal distribution", Applied Statistics 37, 1988), of about 16
// digits. One number in, one out: that is what random access needs.
//
// Products are rounded before they are added, so that processors with a fused
// multiplication give the same values as others.
func normal(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		n := horner(r, 2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608)
		d := horner(r, 5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1)
		return q * n / d
	}
	return tail(u, q)
}

// horner is the polynomial of r with these coefficients, the highest power first.
func horner(r, a, b, c, d, e, f, g, h float64) float64 {
	a = float64(a*r) + b
	a = float64(a*r) + c
	a = float64(a*r) + d
	a = float64(a*r) + e
	a = float64(a*r) + f
	a = float64(a*r) + g
	return float64(a*r) + h
}

// tail is normal for the outer 15 % of the distribution.
func tail(u, q float64) float64 {
	r := u
	if q > 0 {
		r = 1 - u
	}
	r = math.Sqrt(-math.Log(r))
	var n, d float64
	if r <= 5 {
		r -= 1.6
		n = horner(r, 7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177, 1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734)
		d = horner(r, 1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966, .14810397642748007459, .68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1)
	} else {
		r -= 5
		n = horner(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386, .026532189526576123093, .29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772)
		d = horner(r, 2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, .0148753612908506148525, .13692988092273580531, .59983220655588793769, 1)
	}
	if q < 0 {
		return -n / d
	}
	return n / d
}
