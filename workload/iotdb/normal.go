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
		n := 2509.0809287301226727
		n = float64(n*r) + 33430.575583588128105
		n = float64(n*r) + 67265.770927008700853
		n = float64(n*r) + 45921.953931549871457
		n = float64(n*r) + 13731.693765509461125
		n = float64(n*r) + 1971.5909503065514427
		n = float64(n*r) + 133.14166789178437745
		n = float64(n*r) + 3.387132872796366608
		d := 5226.495278852545925
		d = float64(d*r) + 28729.085735721942674
		d = float64(d*r) + 39307.89580009271061
		d = float64(d*r) + 21213.794301586595867
		d = float64(d*r) + 5394.1960214247511077
		d = float64(d*r) + 687.1870074920579083
		d = float64(d*r) + 42.313330701600911252
		d = float64(d*r) + 1
		return q * n / d
	}
	return tail(u, q)
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
		n = 7.7454501427834140764e-4
		n = float64(n*r) + .0227238449892691845833
		n = float64(n*r) + .24178072517745061177
		n = float64(n*r) + 1.27045825245236838258
		n = float64(n*r) + 3.64784832476320460504
		n = float64(n*r) + 5.7694972214606914055
		n = float64(n*r) + 4.6303378461565452959
		n = float64(n*r) + 1.42343711074968357734
		d = 1.05075007164441684324e-9
		d = float64(d*r) + 5.475938084995344946e-4
		d = float64(d*r) + .0151986665636164571966
		d = float64(d*r) + .14810397642748007459
		d = float64(d*r) + .68976733498510000455
		d = float64(d*r) + 1.6763848301838038494
		d = float64(d*r) + 2.05319162663775882187
		d = float64(d*r) + 1
	} else {
		r -= 5
		n = 2.01033439929228813265e-7
		n = float64(n*r) + 2.71155556874348757815e-5
		n = float64(n*r) + .0012426609473880784386
		n = float64(n*r) + .026532189526576123093
		n = float64(n*r) + .29656057182850489123
		n = float64(n*r) + 1.7848265399172913358
		n = float64(n*r) + 5.4637849111641143699
		n = float64(n*r) + 6.6579046435011037772
		d = 2.04426310338993978564e-15
		d = float64(d*r) + 1.4215117583164458887e-7
		d = float64(d*r) + 1.8463183175100546818e-5
		d = float64(d*r) + 7.868691311456132591e-4
		d = float64(d*r) + .0148753612908506148525
		d = float64(d*r) + .13692988092273580531
		d = float64(d*r) + .59983220655588793769
		d = float64(d*r) + 1
	}
	if q < 0 {
		return -n / d
	}
	return n / d
}
