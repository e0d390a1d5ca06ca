package main

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1, 1, 1000}, 1},
	} {
		before := slices.Clone(test.values)
		if got := median(test.values); got != test.want {
			t.Errorf("median(%v) = %v, want %v", test.values, got, test.want)
		}
		if !slices.Equal(before, test.values) {
			t.Errorf("median reordered its argument: %v became %v", before, test.values)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing = %v, want NaN", got)
	}
}

func TestSpread(t *testing.T) {
	if got := spread([]float64{10, 20, 30, 40, 50}); got != 20.0/30 {
		t.Errorf("spread = %v, want %v", got, 20.0/30)
	}
	if got := spread([]float64{8, 8, 8}); got != 0 {
		t.Errorf("spread of equal values = %v, want 0", got)
	}
}

// The machine became three times slower halfway: the quotient of the medians
// would say 1, the ratios within the rounds say what is true.
func TestPairedRatioIgnoresDrift(t *testing.T) {
	a := []float64{50, 50, 150, 150}
	b := []float64{100, 100, 300, 300}
	if got := pairedRatio(a, b); got != 0.5 {
		t.Errorf("pairedRatio = %v, want 0.5", got)
	}
}

func TestPairedRatioSkipsWhatIsMissing(t *testing.T) {
	nan := math.NaN()
	if got := pairedRatio([]float64{nan, 6, 8, 9}, []float64{2, nan, 4, 0}); got != 2 {
		t.Errorf("pairedRatio = %v, want 2", got)
	}
	if got := pairedRatio([]float64{nan}, []float64{1}); !math.IsNaN(got) {
		t.Errorf("pairedRatio of nothing = %v, want NaN", got)
	}
}
