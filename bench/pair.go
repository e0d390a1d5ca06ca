package main

import "runtime"

// pair measures two clients in one process, in short slices in the order A B B A
// over and over. A process of its own for each would differ by more than the
// few percent looked for here: by its memory layout, or the cores it was given.
// Each such turn counts as a round, so that there are many
// ratios, each of one moment.
func (j job) pair(s scenario) (report, error) {
	var workers [2][]worker
	for i, name := range j.Clients {
		c, err := newClient(name, newEnvironment(j.Servers, s.x))
		if err != nil {
			return report{}, err
		}
		defer c.close()
		if workers[i], err = makeWorkers(c, s.x, s.parallel); err != nil {
			return report{}, err
		}
		if _, err := runLoop(workers[i], s.warmUp(j.Calls)); err != nil {
			return report{}, err
		}
	}
	runtime.GC()
	r := report{Figures: map[string][]figures{}}
	for range j.Turns {
		var sums [2]usage
		for _, i := range []int{0, 1, 1, 0} {
			u, err := runLoop(workers[i], j.Calls)
			if err != nil {
				return report{}, err
			}
			sums[i].add(u)
		}
		for i, name := range j.Clients {
			r.Figures[name] = append(r.Figures[name], sums[i].figures())
		}
	}
	return r, nil
}
