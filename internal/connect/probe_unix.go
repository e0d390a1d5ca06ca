//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package connect

import "syscall"

// peekSocket looks at the socket's receive queue and leaves it as it is.
func peekSocket(fd uintptr) glance {
	var one [1]byte
	for {
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN || err == syscall.EWOULDBLOCK:
			return glanceQuiet
		case err != nil || n == 0:
			return glanceEnded
		default:
			return glanceReadable
		}
	}
}

const canPeek = true

// readSocket reads what has arrived.
func readSocket(fd uintptr, p []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(int(fd), p, syscall.MSG_DONTWAIT)
		switch err {
		case nil:
			return n, nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, errNothing
		default:
			return 0, err
		}
	}
}

// writeSocket sends what the socket takes of p now.
func writeSocket(fd uintptr, p []byte) (sent int, err error) {
	for sent < len(p) {
		n, err := syscall.Write(int(fd), p[sent:])
		switch err {
		case nil:
			sent += n
		case syscall.EINTR:
		case syscall.EAGAIN:
			return sent, nil
		default:
			return sent, err
		}
	}
	return sent, nil
}
