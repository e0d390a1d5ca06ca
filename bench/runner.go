package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// runner measures scenarios by child processes.
type runner struct {
	servers     endpoints
	rounds      int
	each        time.Duration // of a cell
	connections int           // that kindIdle opens
	profile     string
	progress    progress
}

// outcome is all that was measured for a scenario.
type outcome struct {
	scenario scenario
	rounds   int
	cells    map[string][]figures // by client, then round (turn of a kindPair); NaN where a cell failed
	remarks  []string
	failed   bool
}

// values returns one figure of a client, round by round.
func (o outcome) values(client string, f figure) []float64 {
	var all []float64
	for _, cell := range o.cells[client] {
		all = append(all, cell[f])
	}
	return all
}

// median returns the median of a figure of a client over the rounds.
func (o outcome) median(client string, f figure) float64 {
	return median(present(o.values(client, f)))
}

// ratio returns how the figure that counts in this scenario compares between two
// clients: the median of the ratios within the rounds.
func (o outcome) ratio(client, base string) float64 {
	f := o.scenario.figure
	return pairedRatio(o.values(client, f), o.values(base, f))
}

// measure runs all rounds of a scenario.
func (r runner) measure(ctx context.Context, s scenario) outcome {
	o := outcome{scenario: s, rounds: s.roundsOf(r.rounds), cells: map[string][]figures{}}
	calls, err := r.callsOf(ctx, s)
	if err != nil {
		o.complain("calibration: %v", err)
		return o
	}
	for round := range o.rounds {
		if s.kind == kindPair {
			r.cell(ctx, &o, calls, round, s.clients)
			continue
		}
		for _, name := range turn(s.clients, round) {
			r.cell(ctx, &o, calls, round, []string{name})
		}
	}
	return o
}

// turn returns the clients in the order of a round: each time another is first,
// and every other round runs backwards.
func turn(clients []string, round int) []string {
	first := round / 2 % len(clients)
	order := slices.Concat(clients[first:], clients[:first])
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// callsOf says how many calls each client makes in a cell: as many as the first
// of the usual ones manages in the time given.
func (r runner) callsOf(ctx context.Context, s scenario) (int, error) {
	if s.fixed > 0 || s.kind == kindIdle {
		return s.fixed, nil
	}
	by := s.clients[0]
	if slices.Contains(s.clients, netHTTP) {
		by = netHTTP
	}
	long := s.timeOf(r.each)
	r.progress.say("%s: calibrating", s.name)
	found, err := job{Scenario: s.name, Clients: []string{by}, Servers: r.servers, Calibrate: long / 2}.do(ctx)
	if err != nil {
		return 0, err
	}
	if s.kind == kindPair {
		long = pairSlice
	}
	calls := found.Figures[by][0][rate] * long.Seconds()
	return max(int(math.Round(calls)), s.parallel, 2), nil
}

// pairSlice is about how long one slice of a kindPair is, four of which make a
// turn. A pair gets several times the time of a cell, for it has less to show.
const (
	pairSlice = 50 * time.Millisecond
	pairTimes = 8
)

// cell measures one cell and notes the figures.
func (r runner) cell(ctx context.Context, o *outcome, calls, round int, names []string) {
	s := o.scenario
	r.progress.say("%s: round %d of %d, %s", s.name, round+1, o.rounds, strings.Join(names, " and "))
	j := job{Scenario: s.name, Clients: names, Servers: r.servers, Calls: calls, Connections: r.connections}
	j.Turns = max(2, int(pairTimes*r.each/(4*pairSlice)))
	if round == o.rounds-1 {
		j.Profile = r.profile
	}
	got, err := j.do(ctx)
	if err != nil {
		o.complain("%s, round %d: %v", strings.Join(names, " and "), round+1, err)
	}
	for _, name := range names {
		f, ok := got.Figures[name]
		if !ok {
			f = []figures{missing()}
		}
		o.cells[name] = append(o.cells[name], f...)
	}
	if err == nil && s.kind == kindLoop {
		o.checkDials(names[0], calls, got)
	}
}

// checkDials remarks on a cell that did not do what its scenario is about.
func (o *outcome) checkDials(name string, calls int, got report) {
	x := o.scenario.x
	switch {
	case x.listener.http2() && got.Opened != 1:
		o.complain("%s opened %d connections", name, got.Opened)
	case !x.fresh && got.Dials > int64(calls/200+1):
		o.remark("%s dialed %d times in %d calls", name, got.Dials, calls)
	case x.fresh && got.Dials < int64(calls/o.scenario.parallel*o.scenario.parallel):
		o.complain("%s reused connections: %d for %d calls", name, got.Dials, calls)
	case x.resume && got.Resumed < got.Dials:
		o.complain("%s resumed %d of %d sessions", name, got.Resumed, got.Dials)
	case !x.resume && got.Resumed > 0:
		o.complain("%s resumed %d sessions", name, got.Resumed)
	}
}

func (o *outcome) remark(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.remarks, text) {
		o.remarks = append(o.remarks, text)
	}
}

func (o *outcome) complain(format string, args ...any) {
	o.failed = true
	o.remark(format, args...)
}

// missing returns the figures of a cell that failed.
func missing() figures {
	var f figures
	for i := range f {
		f[i] = math.NaN()
	}
	return f
}
