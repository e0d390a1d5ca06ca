module github.com/okhttp-go/okhttp/bench

go 1.26.0

require (
	github.com/klauspost/compress v1.20.4
	github.com/okhttp-go/okhttp v0.0.0
	github.com/valyala/fasthttp v1.78.0
	golang.org/x/net v0.62.0
)

require (
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/okhttp-go/okhttp => ../
