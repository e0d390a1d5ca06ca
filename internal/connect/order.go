package connect

import "net/netip"

// interleave puts the addresses in the order in which they are raced (RFC 8305
// section 4): the families take turns, IPv6 first, and within a family the
// resolver's order stays. A list of one family comes back as it is.
//
// Without this a host with many dead addresses of one family, first in the
// resolver's order, would keep the other family waiting behind all of them.
func interleave(addrs []netip.Addr) []netip.Addr {
	six := 0
	for _, a := range addrs {
		if a.Is6() {
			six++
		}
	}
	if six == 0 || six == len(addrs) {
		return addrs
	}
	order := make([]netip.Addr, 0, len(addrs))
	i6, i4 := 0, 0
	nextOf := func(i int, family6 bool) int {
		for i < len(addrs) && addrs[i].Is6() != family6 {
			i++
		}
		return i
	}
	for len(order) < len(addrs) {
		if i6 = nextOf(i6, true); i6 < len(addrs) {
			order = append(order, addrs[i6])
			i6++
		}
		if i4 = nextOf(i4, false); i4 < len(addrs) {
			order = append(order, addrs[i4])
			i4++
		}
	}
	return order
}
