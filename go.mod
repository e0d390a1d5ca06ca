module github.com/okhttp-go/okhttp

go 1.26.0
