package main

import (
	"math"
	"strings"
	"testing"
)

func TestWhole(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.4: "0", 9999: "9999", 10000: "10,000", 1234567.8: "1,234,568", -22524: "-22,524", -0.3: "0",
	} {
		if got := whole(value); got != want {
			t.Errorf("whole(%v) = %q, want %q", value, got, want)
		}
	}
}

// outcomeOf makes an outcome of the rounds' CPU figures.
func outcomeOf(name string, rounds map[string][]float64) outcome {
	s, err := findScenario(name)
	if err != nil {
		panic(err)
	}
	o := outcome{scenario: s, cells: map[string][]figures{}}
	for client, values := range rounds {
		for _, v := range values {
			f := missing()
			f[s.figure] = v
			o.cells[client] = append(o.cells[client], f)
		}
	}
	return o
}

func TestJudge(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name   string
		rounds map[string][]float64
		want   []bool
	}{
		{"post1k/c16", map[string][]float64{okhttpClient: {65, 130, 64}, netHTTP: {100, 200, 100}}, []bool{true}},
		{"post1k/c16", map[string][]float64{okhttpClient: {66, 132, 10}, netHTTP: {100, 200, 100}}, []bool{false}},
		{"post1k/c16", map[string][]float64{okhttpClient: {nan}, netHTTP: {100}}, []bool{false}},
		{"allocs", map[string][]float64{okhttpRT: {9.01, 9.02, 9.01}}, []bool{true}},
		{"allocs", map[string][]float64{okhttpRT: {10}}, []bool{false}},
		{"get1k/c16", map[string][]float64{okhttpClient: {60}, okhttpRT: {58}, netHTTP: {100}, rawConn: {38}}, []bool{true, false}},
	} {
		verdicts := judge([]outcome{outcomeOf(test.name, test.rounds)})
		if len(verdicts) != len(test.want) {
			t.Errorf("%s: %d verdicts, want %d", test.name, len(verdicts), len(test.want))
			continue
		}
		for i, v := range verdicts {
			if v.pass() != test.want[i] {
				t.Errorf("%v with %v: pass = %v", v, test.rounds, v.pass())
			}
		}
	}
}

func TestRateInBytes(t *testing.T) {
	o := outcomeOf("h2-far-get64m", map[string][]float64{netHTTP: {0.9, 1, 1.2}})
	for i, row := range o.rows() {
		if o.scenario.clients[i] == netHTTP && row[4] != "67 MB/s" {
			t.Errorf("row %q", row)
		}
	}
}

func TestMarkdownLeavesOutColumnsWithoutHead(t *testing.T) {
	line := markdownLine([]string{"a", "", "c"}, []string{"1", "2", "3"})
	if line != "| 1 | 3 |" {
		t.Errorf("line = %q", line)
	}
	var b strings.Builder
	o := outcomeOf("idle", map[string][]float64{netHTTP: {22000}})
	writeMarkdown(&b, "a machine", []outcome{o}, judge([]outcome{o}))
	for _, want := range []string{"## Idle connections", "| idle | okhttp | – |", "| not measured |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
