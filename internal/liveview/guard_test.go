package liveview

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestForeign: pages of other origins get nothing, by the headers that browsers send for them;
// links are followed.
func TestForeign(t *testing.T) {
	s := listen(t)
	defer s.Close("done")
	port := s.URL()[strings.LastIndex(s.URL(), ":")+1 : len(s.URL())-1]
	for _, c := range []struct {
		path, host string
		header     []string
		want       int
	}{
		{"original.png", "localhost:" + port, nil, 200},
		{"original.png", "[::1]:1", nil, 200},
		{"original.png", "127.0.0.1", nil, 200},
		{"original.png", "LOCALHOST.:" + port, nil, 200},
		{"original.png", "evil.example:" + port, nil, 403}, // a name that was made to mean this machine
		{"events", "evil.example:" + port, []string{"Origin", "http://evil.example:" + port, "Sec-Fetch-Site", "same-origin"}, 403},
		{"", "evil.example:" + port, nil, 403},
		{"original.png", "192.0.2.1:80", nil, 403},
		{"original.png", "127.0.0.1.evil.example", nil, 403},
		{"events", "localhost:" + port, []string{"Origin", "http://evil.example"}, 403},
		{"events", "localhost:" + port, []string{"Origin", "http://localhost:3000"}, 403},
		{"events", "localhost:" + port, []string{"Origin", "null"}, 403},
		{"events", "localhost:" + port, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"events", "localhost:" + port, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"error.png", "localhost:" + port, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"original.png", "localhost:" + port, []string{"Origin", "http://localhost:" + port, "Sec-Fetch-Site", "same-origin"}, 200},
		{"", "localhost:" + port, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"", "localhost:" + port, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"", "localhost:" + port, []string{"Sec-Fetch-Site", "none"}, 200},
	} {
		req, err := http.NewRequest(http.MethodGet, s.URL()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		for i := 0; i < len(c.header); i += 2 {
			req.Header.Set(c.header[i], c.header[i+1])
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != c.want || r.Header.Get("Access-Control-Allow-Origin") != "" || r.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("/%s as %s with %q: %d, want %d", c.path, c.host, c.header, r.StatusCode, c.want)
		}
	}
}

// TestAddresses: the address that is printed can be opened, and who else can open it is known.
func TestAddresses(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for address, want := range map[string][2]string{
		"0":           {"http://127.0.0.1:%d/", ""},
		"localhost:0": {"http://127.0.0.1:%d/", ""},
		"0.0.0.0:0":   {"http://localhost:%d/", "http://" + name + ":%d/"},
		"[::]:0":      {"http://localhost:%d/", "http://" + name + ":%d/"},
	} {
		s, err := Listen(address, Run{}, func() ([]byte, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		port := s.listener.Addr().(*net.TCPAddr).Port
		for i, got := range []string{s.URL(), s.Public()} {
			if want[i] != "" {
				want[i] = fmt.Sprintf(want[i], port)
			}
			if got != want[i] {
				t.Errorf("%s: %q, want %q", address, got, want[i])
			}
		}
		if code, _, _ := get(t, s.URL(), ""); code != 200 {
			t.Errorf("%s: %s answers %d", address, s.URL(), code)
		}
		if want[1] != "" {
			for host, want := range map[string]int{name: 200, "192.0.2.1:80": 200, "evil.example": 403} {
				if code, _, _ := get(t, s.URL(), host); code != want {
					t.Errorf("%s as %s: %d, want %d", address, host, code, want)
				}
			}
		}
		s.Close("done")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "is in use already: choose another, or 0",
		"192.0.2.1:0":         "192.0.2.1:0 is no address of this machine",
		"nonsense":            "an address is HOST:PORT, such as 127.0.0.1:8080",
		"127.0.0.1:99999":     "an address is HOST:PORT",
	} {
		if _, err := Listen(address, Run{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
