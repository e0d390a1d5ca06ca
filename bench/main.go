package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		rounds      = flag.Int("rounds", 5, "rounds per scenario; the table shows medians")
		each        = flag.Duration("time", 600*time.Millisecond, "time that net/http should need for one cell")
		connections = flag.Int("connections", 5000, "idle connections to open")
		only        = flag.String("run", "", "regular expression: scenarios to run")
		who         = flag.String("clients", "", "regular expression: clients to run")
		list        = flag.Bool("list", false, "list the scenarios and exit")
		quick       = flag.Bool("quick", false, "a rough run in about three minutes: 3 short rounds, 1000 idle connections")
		gate        = flag.Bool("gate", false, "exit with status 1 if a bar does not hold")
		markdown    = flag.Bool("md", false, "print the tables in Markdown, for RESULTS.md")
		profile     = flag.String("cpuprofile", "", "directory for a CPU profile of each cell of the last round")
		asServer    = flag.Bool("server", false, "be the server (used by the command itself)")
		asChild     = flag.Bool("child", false, "measure one cell (used by the command itself)")
	)
	flag.Parse()
	switch {
	case *asServer:
		return serve()
	case *asChild:
		return runChild()
	}

	run, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	clients, err := regexp.Compile(*who)
	if err != nil {
		return err
	}
	if *list {
		listScenarios(os.Stdout, run)
		return nil
	}
	selected := selectScenarios(scenarios(), run, clients)
	if len(selected) == 0 {
		return fmt.Errorf("no scenario matches -run %q -clients %q; see -list", *only, *who)
	}
	if *profile != "" {
		if err := os.MkdirAll(*profile, 0o777); err != nil {
			return err
		}
	}
	if *quick {
		*rounds, *each, *connections = 3, 150*time.Millisecond, 1000
	}

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	servers, stop, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer stop()
	r := runner{
		servers: servers, rounds: *rounds, each: *each, connections: *connections,
		profile: *profile, progress: newProgress(),
	}
	holds := measureAll(ctx, r, selected, *markdown)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if *gate && !holds {
		return errors.New("not everything was measured, or a bar does not hold")
	}
	return nil
}

// measureAll runs the scenarios, prints what they gave, and tells whether all was
// measured and every bar holds.
func measureAll(ctx context.Context, r runner, selected []scenario, markdown bool) bool {
	began := time.Now()
	complete := true
	var outcomes []outcome
	for _, s := range selected {
		o := r.measure(ctx, s)
		if ctx.Err() != nil {
			return false
		}
		r.progress.clear()
		outcomes = append(outcomes, o)
		complete = complete && !o.failed
		if !markdown {
			writeOutcome(os.Stdout, o)
		}
	}
	verdicts := judge(outcomes)
	machine := describeMachine(r, began)
	if markdown {
		writeMarkdown(os.Stdout, machine, outcomes, verdicts)
		for _, o := range outcomes {
			for _, remark := range o.remarks {
				fmt.Fprintf(os.Stderr, "%s: %s\n", o.scenario.name, remark)
			}
		}
		return complete && allHold(verdicts)
	}
	fmt.Printf("\n%s\n\n", machine)
	writeVerdicts(os.Stdout, verdicts)
	return complete && allHold(verdicts)
}

// listScenarios prints the scenarios and what they are.
func listScenarios(out io.Writer, run *regexp.Regexp) {
	for _, s := range scenarios() {
		if run.MatchString(s.name) {
			fmt.Fprintf(out, "%-20s %s: %s\n", s.name, s.about, strings.Join(s.clients, ", "))
		}
	}
}
