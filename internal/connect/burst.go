package connect

import (
	"slices"
	"time"

	"github.com/okhttp-go/okhttp/internal/linked"
)

// The protocols by the names that ALPN and this package give them.
const (
	protoHTTP1 = "http/1.1"
	protoH2    = "h2"
	protoPrior = "h2_prior_knowledge"
)

// burst keeps many calls that want a connection to one host at once from opening
// one each, where one may do for all.
//
//  1. While it is not known what the host speaks, or it is known to carry many
//     exchanges on a connection, one attempt is made for all who wait. Another
//     begins beside it when it has taken [attemptDelay], and so on.
//  2. If it comes to HTTP/1, an attempt is made for each of them at once.
//  3. If it comes to HTTP/2, they share the connection as far as it goes, and the
//     next attempt is made for the rest.
//
// It is a part of host, guarded by pool.mu.
type burst struct {
	may       bool          // the host may carry many exchanges on a connection
	single    bool          // it did not when it was last asked, or must not
	only1     bool          // it must not: it has asked for HTTP/1.1
	lastStart time.Duration // when a job began, on the pool's clock
	young     *Conn         // a connection whose peer is about to say its limit
	timer     *time.Timer   // begins the next job; nil until it is needed
}

// burstLocked is what is known of a host beforehand.
func (p *Pool) burstLocked(a Address) burst {
	b := burst{may: a.mayMultiplex()}
	if b.may {
		if k := p.known.lookUp(a); k != nil {
			b.single, b.only1 = true, k.only1
		}
	}
	return b
}

// mayMultiplex reports whether connections to a may carry many exchanges.
func (a Address) mayMultiplex() bool {
	if !a.Secure() {
		return a.Config.priorKnowledge()
	}
	offered := a.Config.TLS.NextProtos
	return slices.Contains(a.Config.Protocols, protoH2) && (offered == nil || slices.Contains(offered, protoH2))
}

// priorKnowledge reports whether HTTP/2 is spoken without asking.
func (c *Config) priorKnowledge() bool { return len(c.Protocols) == 1 && c.Protocols[0] == protoPrior }

// mayStartLocked reports whether another job may begin for h now; if not it sees
// to it that the question is put again in time.
func (p *Pool) mayStartLocked(h *host) bool {
	if !h.may || h.single {
		return true
	}
	if h.young != nil {
		return false // its peer's word, or settled, comes soon
	}
	if h.dialing == 0 {
		return true
	}
	wait := attemptDelay - (p.now() - h.lastStart)
	if wait <= 0 {
		return true
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.startJobsLocked(h)
		})
	} else {
		h.timer.Reset(wait)
	}
	return false
}

func (b *burst) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// learnLocked notes what a new connection to h speaks.
func (p *Pool) learnLocked(h *host, l Link) {
	switch {
	case !h.may || h.only1:
	case l.multiplexed():
		if h.single {
			h.single = false
			p.known.forget(h.addr)
		}
	case !h.single:
		h.single = true
		p.known.note(h.addr, false)
	}
}

// RequireHTTP1 has connections to a speak HTTP/1.1 from now on: the server has
// asked for it (RFC 9113 section 7, HTTP_1_1_REQUIRED). Those to it that speak
// HTTP/2 serve no further exchange.
func (p *Pool) RequireHTTP1(a Address) {
	var dead []*Conn
	p.mu.Lock()
	p.known.note(a, true)
	if h := p.hosts[a]; h != nil {
		h.single, h.only1, h.tls = true, true, nil
		for c := range p.all.All {
			if c.engine != nil && c.host == h && c.retired == "" && p.retireLocked(c, "the server wants HTTP/1.1") {
				dead = append(dead, c)
			}
		}
		p.startJobsLocked(h)
		p.forgetLocked(h)
	}
	p.mu.Unlock()
	p.bury(true, dead...)
}

// protocolMemory remembers hosts that could have spoken HTTP/2 and did not. The
// zero value is empty. It is not safe for concurrent use.
type protocolMemory struct {
	hosts  map[Address]*singleHost
	recent linked.List[singleHost] // the one that was asked for last is first
}

type singleHost struct {
	addr   Address
	only1  bool
	recent linked.Elem[singleHost]
}

func (m *protocolMemory) lookUp(a Address) *singleHost {
	s := m.hosts[a]
	if s != nil {
		s.recent.Remove()
		m.recent.PushFront(&s.recent, s)
	}
	return s
}

func (m *protocolMemory) note(a Address, only1 bool) {
	if s := m.lookUp(a); s != nil {
		s.only1 = s.only1 || only1
		return
	}
	if m.hosts == nil {
		m.hosts = map[Address]*singleHost{}
	}
	if len(m.hosts) >= memoryMax {
		m.forget(m.recent.Last().addr)
	}
	s := &singleHost{addr: a, only1: only1}
	m.hosts[a] = s
	m.recent.PushFront(&s.recent, s)
}

func (m *protocolMemory) forget(a Address) {
	if s := m.hosts[a]; s != nil {
		s.recent.Remove()
		delete(m.hosts, a)
	}
}
