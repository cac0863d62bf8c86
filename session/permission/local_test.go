package permission

import (
	"slices"
	"testing"
)

func TestLocalPorts(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want []int
	}{
		{[]string{"curl", "localhost:8000"}, []int{8000}},
		{[]string{"curl", "-sS", "http://127.0.0.1:5173/a?b=c"}, []int{5173}},
		{[]string{"curl", "http://[::1]:80/", "https://localhost/"}, []int{80, 443}},
		{[]string{"curl", "-X", "POST", "-d", "{}", "http://localhost:3000/x"}, []int{3000}},
		{[]string{"wget", "-qO-", "http://localhost"}, []int{80}},
		{[]string{"curl", "http://localhost:1", "https://example.com"}, nil},
		{[]string{"curl", "https://localhost.example.com"}, nil},
		{[]string{"curl", "http://localhost@example.com/"}, nil},
		{[]string{"curl", "example.com"}, nil},
		{[]string{"curl", "ftp://localhost"}, nil},
		{[]string{"curl"}, nil},
		{[]string{"npm", "install", "localhost:1"}, nil},
	} {
		if got := localPorts(c.argv); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v", c.argv, got)
		}
	}
}
