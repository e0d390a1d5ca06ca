package connect

import (
	"context"
	"crypto/tls"
	"errors"
)

// Planner knows where one call could go to reach one address, and keeps that
// knowledge across the call's retries, so that each is spent on a way that has
// not failed yet. It takes the ways in this order:
//
//  1. attempts that were given up when another won the race, and others that a
//     failed attempt asks for;
//  2. a route that is to be dialled again (see [Planner.RetryRoute]);
//  3. the rest of the routes found so far;
//  4. the routes that a selection finds: the proxy is chosen and the host looked
//     up only now;
//  5. the routes that failed of late, by this call or another.
//
// A Planner is used by one goroutine at a time.
type Planner struct {
	addr   Address
	memory *RouteMemory
	tls    *tls.Config // for handshakes; nil: made for each

	deferred []*plan
	again    Route // valid if hasAgain
	hasAgain bool
	routes   []Route
	selector *selector // nil until it is needed

	// served, if set, is asked with the routes that a selection found, and says that
	// no connection is needed.
	served func([]Route) bool

	// Of the current Connect.
	timeouts Timeouts
	trace    *Trace
}

// NewPlanner returns a planner that has tried nothing yet. A nil memory means
// one of its own.
func NewPlanner(addr Address, memory *RouteMemory) *Planner {
	if memory == nil {
		memory = NewRouteMemory()
	}
	return &Planner{addr: addr, memory: memory}
}

// errNoRoute says that a planner was asked for more than it has.
var errNoRoute = errors.New("no route is left to try")

var errPriorOverTLS = errors.New("h2_prior_knowledge is for http URLs: over TLS the protocol is agreed on")

// Connect opens a connection over the first way that works. All of t's functions
// are called on the caller's goroutine, and none after Connect has returned:
// each ConnectStart is followed by one ConnectEnd or ConnectFailed, also for
// attempts that lost the race.
//
// The error is a [*ConnectError], or a [*RoutesError] of several. When ctx ends
// Connect fails with one that holds ctx's cause and its error, and nothing is
// left open; what was not tried is kept for another Connect.
func (p *Planner) Connect(ctx context.Context, timeouts Timeouts, t *Trace) (Link, error) {
	p.timeouts, p.trace = timeouts, t
	if !p.HasNext() {
		return Link{}, p.fail(errNoRoute)
	}
	if p.addr.Secure() && p.addr.Config.priorKnowledge() {
		p.selector = &selector{state: selectorAsked} // there is no way
		return Link{}, p.fail(errPriorOverTLS)
	}
	r := race{from: p, inTurn: !p.addr.Config.FastFallback}
	link, err := r.run(ctx)
	if p.selector != nil {
		p.selector.stop()
	}
	if err == errServed {
		return Link{}, err
	}
	if err != nil {
		return Link{}, p.fail(err)
	}
	p.memory.Connected(link.Route)
	return link, nil
}

// fail makes sure that an error names the host.
func (p *Planner) fail(err error) error {
	switch e := err.(type) {
	case *ConnectError:
		return e
	case *RoutesError:
		e.Errs[0] = p.fail(e.Errs[0])
		return e
	default:
		return &ConnectError{Phase: PhaseConnect, Host: p.addr.HostPort(), Err: err}
	}
}

// HasNext reports whether there is a way that has not been tried. A planner that
// never had to select routes, because its call was served from the pool, has one.
func (p *Planner) HasNext() bool {
	return len(p.deferred) > 0 || p.hasAgain || len(p.routes) > 0 ||
		p.selector == nil || p.selector.hasNext()
}

// RetryRoute has r dialled before any route that must be looked up: the peer
// closed a connection over it that had worked, so nothing speaks against the
// route.
func (p *Planner) RetryRoute(r Route) { p.again, p.hasAgain = r, true }

func (p *Planner) hasNext() bool { return p.HasNext() }

func (p *Planner) next(ctx context.Context, news <-chan struct{}) (attempt, error) {
	if len(p.deferred) > 0 {
		next := p.deferred[0]
		p.deferred = p.deferred[1:]
		next.timeouts, next.trace = p.timeouts, p.trace
		return next, nil
	}
	if p.hasAgain {
		p.hasAgain = false
		return p.plan(p.again), nil
	}
	if len(p.routes) == 0 {
		if p.selector == nil {
			p.selector = newSelector(p.addr, p.memory, p.trace)
		}
		routes, err := p.selector.next(ctx, news, p.trace)
		if err != nil {
			return nil, err
		}
		p.routes = routes
		if p.served != nil && p.served(routes) {
			return nil, errServed
		}
	}
	r := p.routes[0]
	p.routes = p.routes[1:]
	return p.plan(r), nil
}

func (p *Planner) plan(r Route) *plan {
	return &plan{addr: p.addr, route: r, memory: p.memory, tls: p.tls, timeouts: p.timeouts, trace: p.trace}
}

func (p *Planner) deferFirst(attempts ...attempt) {
	plans := make([]*plan, 0, len(attempts)+len(p.deferred))
	for _, a := range attempts {
		plans = append(plans, a.(*plan))
	}
	p.deferred = append(plans, p.deferred...)
}

func (p *Planner) deferLast(attempts ...attempt) {
	for _, a := range attempts {
		p.deferred = append(p.deferred, a.(*plan))
	}
}
