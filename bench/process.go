package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// startServer starts this program again as the server. stop ends it.
func startServer(ctx context.Context) (where endpoints, stop func(), err error) {
	cmd, err := itself(ctx, "-server")
	if err != nil {
		return endpoints{}, nil, err
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return endpoints{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return endpoints{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return endpoints{}, nil, err
	}
	stop = func() {
		in.Close()
		cmd.Wait()
	}
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		stop()
		return endpoints{}, nil, fmt.Errorf("the server did not start: %w", err)
	}
	return where, stop, nil
}

// do has a child process do the job.
func (j job) do(ctx context.Context) (report, error) {
	// No cell should need a minute. One that hangs must not hold up the rest.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd, err := itself(ctx, "-child")
	if err != nil {
		return report{}, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return report{}, err
	}
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &complaint
	out, err := cmd.Output()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return report{}, fmt.Errorf("%w: %s", err, said)
	}
	var r report
	err = json.NewDecoder(bytes.NewReader(out)).Decode(&r)
	return r, err
}

// itself returns a command that runs this program with one flag.
func itself(ctx context.Context, flag string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, flag)
	cmd.WaitDelay = time.Second
	return cmd, nil
}
