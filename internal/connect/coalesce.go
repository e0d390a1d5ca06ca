package connect

import (
	"errors"
	"net/netip"

	"github.com/okhttp-go/okhttp/internal/linked"
)

// errServed ends an attempt to connect that has become needless: a connection to
// another host serves this one too (RFC 9113 section 9.1.1).
var errServed = errors.New("another host's connection serves this one")

// maxCandidates bounds how many connections to one address are looked into. There
// are more only where one address has very many hosts, and they have little in
// common.
const maxCandidates = 16

// coalesces reports whether connections of other hosts may serve a, and the other
// way round: the check of their names must be the one of crypto/x509, on the name
// of the URL.
func (a Address) coalesces() bool {
	c := a.Config.TLS
	return a.Secure() && a.mayMultiplex() && c.ServerName == "" && !c.InsecureSkipVerify &&
		c.VerifyPeerCertificate == nil && c.VerifyConnection == nil
}

// indexLocked lets c be found by hosts at its address.
func (p *Pool) indexLocked(c *Conn) {
	at := c.link.Route.Addr
	if !at.IsValid() || c.link.TLS == nil || !c.host.addr.coalesces() {
		return
	}
	if p.byAddr == nil {
		p.byAddr = map[netip.AddrPort]*linked.List[Conn]{}
	}
	list := p.byAddr[at]
	if list == nil {
		list = new(linked.List[Conn])
		p.byAddr[at] = list
	}
	list.PushFront(&c.indexed, c)
}

func (p *Pool) unindexLocked(c *Conn) {
	if !c.indexed.Linked() {
		return
	}
	c.indexed.Remove()
	at := c.link.Route.Addr
	if p.byAddr[at].Len() == 0 {
		delete(p.byAddr, at)
	}
}

// ForbidCoalescing keeps the connection from serving other hosts than its own: the
// server has said that it does not want to (RFC 9110 section 15.5.20, 421).
func (c *Conn) ForbidCoalescing() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.apart = true
	c.pool.unindexLocked(c)
}

// coalesce takes a lease on a connection of another host that goes to one of the
// routes and may serve j's host too. One to a later route is better than a new one
// to the first.
func (j *job) coalesce(routes []Route) *Conn {
	p, addr := j.pool, j.host.addr
	if !addr.coalesces() {
		return nil
	}
	for {
		candidates := p.candidates(j.host, routes)
		c := p.firstThatFits(candidates, addr)
		if c == nil {
			return nil
		}
		if !c.alone {
			return c.Conn
		}
		err := c.check()
		if err == nil {
			return c.Conn
		}
		p.discard(c.Conn, nil, err)
	}
}

// candidates lists connections to the routes that could serve h.
func (p *Pool) candidates(h *host, routes []Route) []*Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byAddr) == 0 || h.only1 {
		return nil
	}
	var found []*Conn
	for _, r := range routes {
		list := p.byAddr[r.Addr]
		if list == nil {
			continue
		}
		for c := range list.All {
			if len(found) == maxCandidates {
				return found
			}
			if c.host != h && c.host.addr.Config == h.addr.Config && c.fitsLocked() {
				found = append(found, c)
			}
		}
	}
	return found
}

// leased is a connection with a lease that was just taken.
type leased struct {
	*Conn
	alone bool // there is no other
}

func (p *Pool) firstThatFits(candidates []*Conn, addr Address) *leased {
	for _, c := range candidates {
		if c.covers(addr) != nil {
			continue
		}
		p.mu.Lock()
		fits := c.fitsLocked() && !c.apart && !c.aged()
		alone := c.leases == 0
		if fits {
			p.leaseLocked(c)
		}
		p.mu.Unlock()
		if fits {
			return &leased{c, alone}
		}
	}
	return nil
}

var errNotVerified = errors.New("the peer's certificate was not verified")

// covers says why the peer of c has not proved that it is addr as well.
func (c *Conn) covers(addr Address) error {
	state := c.link.TLS
	if len(state.PeerCertificates) == 0 || len(state.VerifiedChains) == 0 {
		return errNotVerified
	}
	if err := state.PeerCertificates[0].VerifyHostname(addr.Host); err != nil {
		return err
	}
	if pins := addr.Config.Pins; pins != nil {
		return pins(addr.Host, state)
	}
	return nil
}
