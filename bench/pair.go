package main

import "runtime"

// pair measures two clients in one process, in short slices in the order A B B A
// over and over. A process of its own for each would differ by more than the
// few percent looked for here: by its memory layout, or the cores it was given.
// What counts is each client's median slice.
func (j job) pair(s scenario) (report, error) {
	var workers [2][]worker
	for i, name := range j.Clients {
		c, err := newClient(name, environment{j.Servers, s.x})
		if err != nil {
			return report{}, err
		}
		defer c.close()
		if workers[i], err = makeWorkers(c, s.x, s.parallel); err != nil {
			return report{}, err
		}
		if _, err := runLoop(workers[i], warmUp(j.Calls, s.parallel)); err != nil {
			return report{}, err
		}
	}
	runtime.GC()
	var slices [2][]figures
	for len(slices[0]) < j.Slices {
		for _, i := range []int{0, 1, 1, 0} {
			u, err := runLoop(workers[i], j.Calls)
			if err != nil {
				return report{}, err
			}
			slices[i] = append(slices[i], u.figures())
		}
	}
	r := report{Figures: map[string]figures{}}
	for i, name := range j.Clients {
		r.Figures[name] = medianFigures(slices[i])
	}
	return r, nil
}

// medianFigures returns the median of each figure.
func medianFigures(all []figures) figures {
	var m figures
	for f := range m {
		values := make([]float64, len(all))
		for i := range all {
			values[i] = all[i][f]
		}
		m[f] = median(values)
	}
	return m
}
