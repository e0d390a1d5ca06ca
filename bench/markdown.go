package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// writeMarkdown prints everything as it stands in RESULTS.md.
func writeMarkdown(out io.Writer, machine string, outcomes []outcome, verdicts []verdict) {
	fmt.Fprintf(out, "%s\n", machine)
	calls, idle := columns, idleColumns
	writeMarkdownTable(out, "Calls", calls, outcomes, func(o outcome) bool { return o.scenario.kind != kindIdle })
	writeMarkdownTable(out, "Idle connections", idle, outcomes, func(o outcome) bool { return o.scenario.kind == kindIdle })
	if len(verdicts) > 0 {
		fmt.Fprint(out, "\n## Bars\n\n| bar | measured | |\n|---|--:|---|\n")
	}
	for _, v := range verdicts {
		value, word := "–", "not measured"
		if !math.IsNaN(v.value) {
			value, word = fmt.Sprintf("%.2f", v.value), "fails"
			if v.pass() {
				word = "holds"
			}
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", v.bar, value, word)
	}
}

func writeMarkdownTable(out io.Writer, title string, heads []string, outcomes []outcome, belongs func(outcome) bool) {
	var lines []string
	for _, o := range outcomes {
		if !belongs(o) {
			continue
		}
		for _, row := range o.rows() {
			lines = append(lines, markdownLine(heads, row))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n\n%s\n%s\n%s\n", title,
		markdownLine(heads, heads), markdownRule(heads), strings.Join(lines, "\n"))
}

// markdownLine joins the cells of a row, leaving out columns without a head.
func markdownLine(heads, row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if heads[i] != "" {
			b.WriteString("| " + cell + " ")
		}
	}
	return b.String() + "|"
}

func markdownRule(heads []string) string {
	var b strings.Builder
	for i, head := range heads {
		switch {
		case head == "":
		case i < 2:
			b.WriteString("|---")
		default:
			b.WriteString("|--:")
		}
	}
	return b.String() + "|"
}
