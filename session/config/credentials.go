package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

func (p Paths) credentials() document[map[string]string] {
	return document[map[string]string]{filepath.Join(p.Data, "credentials.json")}
}

// Login keeps a provider's key in a file that only the user can read.
func (p Paths) Login(provider, key string) error {
	key = strings.TrimSpace(key)
	if provider == "" || key == "" {
		return errors.New("a provider and its key are needed")
	}
	if strings.ContainsAny(key, "\n\r\x00") {
		return errors.New("a key is one line of text")
	}
	return p.credentials().change(func(keys *map[string]string) error {
		if *keys == nil {
			*keys = map[string]string{}
		}
		(*keys)[provider] = key
		return nil
	})
}

// Logout forgets a provider's key, or with an empty name all of them. It
// reports how many it forgot.
func (p Paths) Logout(provider string) (forgotten int, err error) {
	stored, err := p.credentials().read()
	if err != nil || len(stored) == 0 {
		return 0, err
	}
	err = p.credentials().change(func(keys *map[string]string) error {
		for name := range *keys {
			if provider == "" || name == provider {
				delete(*keys, name)
				forgotten++
			}
		}
		return nil
	})
	return forgotten, err
}

// StoredKeys are all keys that Login kept, as far as they can be read: what a log
// must not hold.
func (p Paths) StoredKeys() []string {
	keys, _ := p.credentials().read()
	return slices.Collect(maps.Values(keys))
}

// StoredKey is the key that Login kept; empty where there is none.
func (p Paths) StoredKey(provider string) (string, error) {
	keys, err := p.credentials().read()
	if err != nil {
		return "", fmt.Errorf("the stored credentials: %w", err)
	}
	return keys[provider], nil
}
