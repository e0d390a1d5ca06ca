package main

import (
	"math"
	"slices"
)

// quantile returns the q-quantile of values, 0 ≤ q ≤ 1, interpolating between
// neighbours. It is NaN for no values and leaves values as they are.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(low)
	return sorted[low]*(1-part) + sorted[low+1]*part
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 { return quantile(values, 0.5) }

// spread returns the interquartile range as a share of the median.
func spread(values []float64) float64 {
	return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)
}

// pairedRatio returns the median over the rounds of over[i]/under[i]. A round in
// which either is missing (NaN) or under is zero does not count.
func pairedRatio(over, under []float64) float64 {
	var ratios []float64
	for i := range min(len(over), len(under)) {
		r := over[i] / under[i]
		if !math.IsNaN(r) && !math.IsInf(r, 0) {
			ratios = append(ratios, r)
		}
	}
	return median(ratios)
}

// present returns the values that are not NaN.
func present(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}
