package main

// A figure is one column of the table.
type figure int

const (
	cpu        figure = iota // nanoseconds of the client process per call
	rate                     // calls per second
	allocs                   // allocations per call
	allocBytes               // bytes allocated per call
	resident                 // resident bytes per idle connection
	goroutines               // goroutines per idle connection
	figureCount
)

// figures holds what one cell measured, per call or per connection.
type figures [figureCount]float64
