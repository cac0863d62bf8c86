package kinds

import "net/netip"

// Reach is how far an address reaches. The zero value is never dialled.
type Reach int

// The reaches of addresses, by the registries of special-purpose addresses
// (RFC 6890 and what followed it).
const (
	ReachNever     Reach = iota // multicast, documentation, benchmarking, unassigned, a cloud's metadata
	ReachPublic                 // the internet
	ReachPrivate                // a local network: RFC 1918, RFC 4193, RFC 6598
	ReachLoopback               // this machine
	ReachLinkLocal              // the wire
)

// String says what an address of the reach is, as in "10.0.0.1 is …".
func (r Reach) String() string {
	switch r {
	case ReachPublic:
		return "a public address"
	case ReachPrivate:
		return "a private address"
	case ReachLoopback:
		return "a loopback address of this machine"
	case ReachLinkLocal:
		return "a link-local address"
	}
	return "a reserved or metadata address"
}

// ReachOf says how far an address reaches. An IPv4 address inside of an IPv6
// one is what counts (RFC 4291, 6052, 3056).
func ReachOf(a netip.Addr) Reach {
	a = a.WithZone("").Unmap()
	switch {
	case !a.IsValid():
		return ReachNever
	case a.Is4():
		return reach4(a)
	}
	return reach6(a)
}

func reach4(a netip.Addr) Reach {
	b := a.As4()
	switch {
	case b == [4]byte{169, 254, 169, 254}, b[0] == 169 && b[1] == 254 && (b[2] == 169 || b[2] == 170), // metadata of most clouds
		b == [4]byte{100, 100, 100, 200}, b == [4]byte{168, 63, 129, 16}: // and of others
		return ReachNever
	case b[0] == 127:
		return ReachLoopback
	case a.IsPrivate(), b[0] == 100 && b[1]&0xc0 == 64:
		return ReachPrivate
	case a.IsLinkLocalUnicast():
		return ReachLinkLocal
	case b[0] == 0, b[0] >= 224,
		b[0] == 192 && b[1] == 0 && (b[2] == 0 || b[2] == 2),
		b[0] == 192 && b[1] == 88 && b[2] == 99,
		b[0] == 198 && b[1]&0xfe == 18,
		b[0] == 198 && b[1] == 51 && b[2] == 100,
		b[0] == 203 && b[1] == 0 && b[2] == 113:
		return ReachNever
	}
	return ReachPublic
}

func reach6(a netip.Addr) Reach {
	b := a.As16()
	in := func(prefix string) bool { return netip.MustParsePrefix(prefix).Contains(a) }
	switch {
	case in("64:ff9b::/96"): // NAT64
		return inner(b, 12)
	case in("2002::/16"): // 6to4
		return inner(b, 2)
	case a.IsLoopback():
		return ReachLoopback
	case in("fd00:ec2::/32"), in("fd20:ce::254/128"): // metadata
		return ReachNever
	case in("fc00::/7"):
		return ReachPrivate
	case in("fe80::/10"):
		return ReachLinkLocal
	case in("2001::/23"), in("2001:db8::/32"), in("3fff::/20"), !in("2000::/3"):
		return ReachNever
	}
	return ReachPublic
}

// inner is the reach of the IPv4 address at an offset: a public one is public
// in its new clothes too, any other is nothing that one would write like that.
func inner(b [16]byte, at int) Reach {
	if reach4(netip.AddrFrom4([4]byte(b[at:at+4]))) == ReachPublic {
		return ReachPublic
	}
	return ReachNever
}
