package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// A job tells a child process what to measure. It comes as JSON on standard
// input, and a report goes back on standard output.
type job struct {
	Scenario string
	Clients  []string // one, or the two of a kindPair
	Servers  endpoints

	Calls       int           // how many; zero to find out, see below
	Calibrate   time.Duration // with no Calls: make calls for about this long
	Connections int           // for kindIdle
	Turns       int           // for kindPair
	Profile     string        // directory for a CPU profile of the measured loop
}

// A report is what a child measured.
type report struct {
	Figures map[string][]figures // by client; of a kindPair many, else one
	Dials   int64                // connections opened during the measured loop
	Opened  int64                // connections opened in all
	Resumed int64                // of them with a resumed TLS session
}

// runChild does the job on standard input.
func runChild() error {
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return err
	}
	s, err := findScenario(j.Scenario)
	if err != nil {
		return err
	}
	r, err := j.run(s)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func (j job) run(s scenario) (report, error) {
	if j.Calls == 0 && s.kind != kindIdle {
		return j.calibrate(s)
	}
	switch s.kind {
	case kindLoop, kindAllocs:
		return j.loop(s)
	case kindPair:
		return j.pair(s)
	case kindIdle:
		return j.idle(s)
	}
	panic("BUG: unknown kind of scenario")
}

// calibrate finds out how fast the first client is.
func (j job) calibrate(s scenario) (report, error) {
	name := j.Clients[0]
	c, err := newClient(name, newEnvironment(j.Servers, s.x))
	if err != nil {
		return report{}, err
	}
	defer c.close()
	workers, err := makeWorkers(c, s.x, s.parallel)
	if err != nil {
		return report{}, err
	}
	u, err := runFor(workers, j.Calibrate)
	return report{Figures: map[string][]figures{name: {u.figures()}}}, err
}

// loop measures one client making calls.
func (j job) loop(s scenario) (report, error) {
	name := j.Clients[0]
	env := newEnvironment(j.Servers, s.x)
	server, err := env.witness()
	if err != nil {
		return report{}, err
	}
	defer server.close()
	first, err := server.counts()
	if err != nil {
		return report{}, err
	}
	c, err := newClient(name, env)
	if err != nil {
		return report{}, err
	}
	defer c.close()
	workers, err := makeWorkers(c, s.x, s.parallel)
	if err != nil {
		return report{}, err
	}

	if s.kind == kindAllocs {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	if _, err := runLoop(workers, s.warmUp(j.Calls)); err != nil {
		return report{}, err
	}
	before, err := server.counts()
	if err != nil {
		return report{}, err
	}
	stop, err := j.profile(s, name)
	if err != nil {
		return report{}, err
	}
	runtime.GC()
	u, err := runLoop(workers, j.Calls)
	stop()
	if err != nil {
		return report{}, err
	}
	after, err := server.counts()
	if err != nil {
		return report{}, err
	}
	if sent, want := after.BodyBytes-before.BodyBytes, int64(u.calls)*int64(s.x.size); sent != want {
		return report{}, fmt.Errorf("the server has received %d bytes of bodies, not %d", sent, want)
	}
	return report{
		Figures: map[string][]figures{name: {u.figures()}},
		Dials:   after.Accepted - before.Accepted,
		Opened:  after.Accepted - first.Accepted,
		Resumed: after.Resumed - before.Resumed,
	}, nil
}

// warmUp says how many calls to make before the measured ones: several per
// worker, unless each takes long.
func (s scenario) warmUp(calls int) int {
	each := 4
	if s.x.listener == h2cFar || s.parallel*int(s.x.want) > 64*mib {
		each = 1
	}
	return max(calls/8, each*s.parallel, 1)
}

// runFor makes calls until a loop of them lasts about as long as it should,
// and returns the cost of the last loop.
func runFor(workers []worker, long time.Duration) (usage, error) {
	for calls := len(workers); ; {
		u, err := runLoop(workers, calls)
		if err != nil || u.wall > long/2 {
			return u, err
		}
		factor := float64(long) / float64(u.wall+1)
		calls = max(calls+1, int(float64(calls)*min(factor, 8)))
	}
}

// profile starts a CPU profile if the job asks for one, and returns what ends it.
func (j job) profile(s scenario, client string) (stop func(), err error) {
	if j.Profile == "" {
		return func() {}, nil
	}
	name := strings.NewReplacer("/", "-").Replace(s.name + "." + client + ".pprof")
	file, err := os.Create(filepath.Join(j.Profile, name))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}
