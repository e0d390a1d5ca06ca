package main

import (
	"slices"
	"testing"
)

// Every client gets every answer right that it is measured with.
func TestEveryScenario(t *testing.T) {
	servers, err := startListening()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios() {
		for _, name := range s.clients {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				j := job{Scenario: s.name, Clients: []string{name}, Servers: servers, Calls: 1, Connections: 64, Turns: 2}
				if s.kind == kindPair {
					j.Clients = append(j.Clients, name)
				}
				r, err := j.run(s)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := r.Figures[name]; !ok {
					t.Error("no figures")
				}
				if s.x.listener.http2() && s.kind != kindIdle && r.Opened != 1 {
					t.Errorf("%d connections, want 1", r.Opened)
				}
			})
		}
	}
}

// A bar that names what is never measured would hold by never failing.
func TestBarsNameWhatIsMeasured(t *testing.T) {
	for _, b := range bars() {
		s, err := findScenario(b.scenario)
		if err != nil {
			t.Errorf("%v: %v", b, err)
			continue
		}
		for _, name := range []string{b.client, b.base} {
			if name != "" && !slices.Contains(s.clients, name) {
				t.Errorf("%v: %s is not measured", b, name)
			}
		}
	}
}

func TestTurn(t *testing.T) {
	clients := []string{"a", "b", "c"}
	first := map[string]int{}
	for round := range 6 {
		order := turn(clients, round)
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, clients) {
			t.Errorf("round %d: %v", round, order)
		}
		first[order[0]]++
	}
	for _, name := range clients {
		if first[name] != 2 {
			t.Errorf("%s is first in %d of 6 rounds, want 2", name, first[name])
		}
	}
}
