package config

import (
	"errors"

	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/kinds"
)

// readPrivate takes true, false, or a list of hosts with or without a port.
func readPrivate(r *reader, v hujson.Value) error {
	var all bool
	if decode(v, &all) == nil {
		r.config.Web.Private = kinds.Private{All: all}
		return nil
	}
	var hosts []string
	if decode(v, &hosts) != nil {
		return errors.New("must be true, false or a list of HOST and HOST:PORT")
	}
	p, err := kinds.NewPrivate(hosts)
	if err != nil {
		return err
	}
	r.config.Web.Private = p
	return nil
}

// readSearch takes one search engine or a list of them.
func readSearch(r *reader, v hujson.Value) error {
	var list []Search
	if _, ok := v.Value.(*hujson.Object); ok {
		list = make([]Search, 1)
		if decode(v, &list[0]) != nil {
			return errors.New("must be {provider, url, apiKeyEnv} or a list of them")
		}
	} else if decode(v, &list) != nil {
		return errors.New("must be {provider, url, apiKeyEnv} or a list of them")
	}
	for _, s := range list {
		if s.Provider == "" {
			return errors.New("names no provider")
		}
	}
	r.config.Web.Search = list
	return nil
}
