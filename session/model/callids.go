package model

import "strconv"

// CallIDs gives the calls of a conversation ids that a provider takes: each
// used once, none empty, none that its API refuses. Results follow their calls.
// Models repeat ids, leave them out, and a conversation may have begun with
// another provider's.
type CallIDs struct {
	valid func(id string) bool
	used  map[string]bool
	last  map[string]int      // the last number that fresh gave behind an id
	open  map[string][]string // the id in the conversation → those given, without a result yet
}

// NewCallIDs makes the ids of one request. valid tells whether the provider's
// API takes an id; nil takes all.
func NewCallIDs(valid func(id string) bool) *CallIDs {
	return &CallIDs{valid: valid, used: map[string]bool{}, last: map[string]int{}, open: map[string][]string{}}
}

// UsedCallIDs knows the ids of a conversation, so that Call gives the next ones
// that are not among them.
func UsedCallIDs(messages []Message) *CallIDs {
	ids := NewCallIDs(nil)
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Type == PartCall {
				ids.used[p.CallID] = true
			}
		}
	}
	return ids
}

// Begin starts another message of the assistant's: results to come belong to
// its calls.
func (c *CallIDs) Begin() { clear(c.open) }

// Call returns the id for the next call, which is its own where that can be.
func (c *CallIDs) Call(id string) string {
	given := id
	if id == "" || c.used[id] || c.valid != nil && !c.valid(id) {
		given = c.fresh(id)
	}
	c.used[given] = true
	c.open[id] = append(c.open[id], given)
	return given
}

// Result returns the id that the call of this result was given. Two results of
// the same id are those of its calls, in order.
func (c *CallIDs) Result(id string) string {
	given := c.open[id]
	if len(given) == 0 {
		return id
	}
	c.open[id] = given[1:]
	return given[0]
}

// fresh makes an id that is not used. It depends on the conversation alone, so
// that the same request has the same bytes.
func (c *CallIDs) fresh(id string) string {
	if id == "" || c.valid != nil && !c.valid(id+"_00") {
		id = "call"
	}
	for n := max(c.last[id]+1, 2); ; n++ {
		c.last[id] = n
		if try := id + "_" + strconv.Itoa(n); !c.used[try] {
			return try
		}
	}
}
