package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// columns are the heads of the table.
var columns = []string{"scenario", "client", "CPU/call", "±", "calls/s", "allocs", "B/call", "× net/http", "× raw"}

// idleColumns are the heads for scenarios without calls.
var idleColumns = []string{"scenario", "client", "B/conn", "±", "goroutines/conn", "", "", "× net/http", "× raw"}

// rows returns the lines of a scenario, one per client.
func (o outcome) rows() [][]string {
	var all [][]string
	for i, name := range o.scenario.clients {
		title := ""
		if i == 0 {
			title = o.scenario.name
		}
		row := []string{title, name}
		values := present(o.values(name, o.scenario.figure))
		switch {
		case len(values) == 0:
			row = append(row, "–", "", "", "", "")
		case o.scenario.kind == kindIdle:
			row = append(row, whole(o.median(name, resident)), percent(spread(values)),
				fmt.Sprintf("%.2f", o.median(name, goroutines)), "", "")
		default:
			row = append(row,
				duration(o.median(name, cpu)), percent(spread(values)),
				o.rateText(name),
				fmt.Sprintf("%.1f", o.median(name, allocs)),
				whole(o.median(name, allocBytes)))
		}
		base := netHTTP
		if o.scenario.kind == kindAllocs {
			base = netHTTPRT // like with like: RoundTrip alone
		}
		row = append(row, o.ratioText(name, base), o.ratioText(name, rawConn))
		if o.scenario.kind == kindPair {
			row[len(row)-2] = o.ratioText(name, okhttpClient) + " × okhttp"
		}
		all = append(all, row)
	}
	return all
}

// rateText returns how fast a client was, in bytes where it is all that counts.
func (o outcome) rateText(client string) string {
	r := o.median(client, rate)
	if o.scenario.figure == rate {
		return whole(r*float64(o.scenario.x.want)/1e6) + " MB/s"
	}
	return whole(r)
}

func (o outcome) ratioText(client, base string) string {
	r := o.ratio(client, base)
	if math.IsNaN(r) {
		return ""
	}
	return fmt.Sprintf("%.2f", r)
}

// duration formats nanoseconds to three digits.
func duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
}

// whole formats a number, with groups of three digits from 10,000 on.
func whole(v float64) string {
	digits := fmt.Sprintf("%.0f", math.Abs(v))
	if len(digits) > 4 {
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + "," + digits[i:]
		}
	}
	if v <= -0.5 {
		digits = "-" + digits
	}
	return digits
}

func percent(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// widths of the table's columns on a terminal; a scenario is printed as soon as
// it is measured, before the later ones are known.
var widths = []int{20, 15, 10, 5, 15, 9, 11, 14, 7}

// writeRow prints one line, text to the left and numbers to the right.
func writeRow(out io.Writer, row []string) {
	var b strings.Builder
	for i, cell := range row {
		space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if i < 2 {
			b.WriteString(cell + space)
		} else {
			b.WriteString(space + cell)
		}
		b.WriteByte(' ')
	}
	fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
}

// writeOutcome prints a scenario's part of the table.
func writeOutcome(out io.Writer, o outcome) {
	heads := columns
	if o.scenario.kind == kindIdle {
		heads = idleColumns
	}
	fmt.Fprintln(out)
	writeRow(out, heads)
	for _, row := range o.rows() {
		writeRow(out, row)
	}
	for _, remark := range o.remarks {
		fmt.Fprintln(out, "  !", remark)
	}
}
