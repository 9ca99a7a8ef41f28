package clrt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var indices = regexp.MustCompile(`^\d+:\d+$`)

// Select returns the device that sel names:
//
//	"" or "opencl"   the first GPU, else the first accelerator, else the first other device
//	"1:0"            device 0 of platform 1
//	anything else    the first device, GPUs first, whose name, vendor, platform or version contains it
//
// It returns ErrNoDevice, with the list of devices, where there is none.
func Select(devices []Info, sel string) (Info, error) {
	match := func(Info) bool { return true }
	switch {
	case sel == "" || strings.EqualFold(sel, "opencl"):
	case indices.MatchString(sel):
		match = func(i Info) bool { return i.ID() == canonical(sel) }
	default:
		want := strings.ToLower(sel)
		match = func(i Info) bool {
			return strings.Contains(strings.ToLower(i.Name+"\n"+i.Vendor+"\n"+i.Platform+"\n"+i.Version), want)
		}
	}
	best := -1
	for n, i := range devices {
		if match(i) && (best < 0 || i.Type < devices[best].Type) {
			best = n
		}
	}
	if best < 0 {
		return Info{}, &Error{Call: fmt.Sprintf("select %q", sel), Status: ErrNoDevice, Detail: summary(devices)}
	}
	return devices[best], nil
}

// canonical drops leading zeros, so that "00:1" names device 0:1.
func canonical(sel string) string {
	p, d, _ := strings.Cut(sel, ":")
	pi, _ := strconv.Atoi(p)
	di, _ := strconv.Atoi(d)
	return fmt.Sprintf("%d:%d", pi, di)
}

func summary(devices []Info) string {
	if len(devices) == 0 {
		return "the platforms offer no device"
	}
	names := make([]string, len(devices))
	for n, i := range devices {
		names[n] = i.ID() + " " + i.String()
	}
	return "there are " + strings.Join(names, ", ") + ", and cpu"
}
