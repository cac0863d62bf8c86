package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// tagged is a variant of a union. Its tag is declared once, by this method, and
// used both to write it and to find the variant by it.
type tagged interface{ tag() string }

// tag is the field of a variant V that writes V's tag. It has no size and
// nothing to set. Reading it with encoding/json checks the tag.
type tag[V tagged] struct{}

type tagger interface{ isTag() }

func (tag[V]) isTag() {}

// MarshalText is the tag.
func (tag[V]) MarshalText() ([]byte, error) {
	var v V
	return []byte(v.tag()), nil
}

// UnmarshalText fails on any tag but the variant's own.
func (tag[V]) UnmarshalText(b []byte) error {
	var v V
	if string(b) != v.tag() {
		return fmt.Errorf("acp: tag is %q, want %q", b, v.tag())
	}
	return nil
}

// Unknown is the body of every Unknown… variant: a value whose tag this version
// does not know, kept as it came.
type Unknown struct {
	Tag string          // as it stood on the wire
	Raw json.RawMessage // the whole value
}

var errNoRaw = errors.New("acp: unknown variant without its JSON text")

// MarshalJSON is the value as it came.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return nil, errNoRaw
	}
	return u.Raw, nil
}

// union is how a sealed interface is decoded.
type union struct {
	key      string                  // the member that holds the tag
	variants map[string]reflect.Type // by tag
	untagged reflect.Type            // where there is no tag; nil: the tag is required
	unknown  reflect.Type            // has an embedded Unknown; nil: an unknown tag is untagged
	// pick finds the variant where there is no tag to read. It leaves the cursor
	// where it found it.
	pick func(c *cursor) (reflect.Type, *problem)
	// settle, where set, has the last word on a decoded variant.
	settle func(v any) any
}

// taggedUnion declares a union by the member that holds the tag, the variant
// that keeps unknown ones, and the known variants.
func taggedUnion[U any](key string, unknown U, variants ...tagged) *union {
	u := &union{key: key, unknown: reflect.TypeOf(unknown), variants: make(map[string]reflect.Type, len(variants))}
	for _, v := range variants {
		t := reflect.TypeOf(v)
		if !t.Implements(reflect.TypeFor[U]()) {
			panic("acp: " + t.String() + " is no " + reflect.TypeFor[U]().String())
		}
		u.variants[v.tag()] = t
	}
	return u
}

// unions has every sealed interface of this package.
var unions = sync.OnceValue(func() map[reflect.Type]*union {
	return map[reflect.Type]*union{
		reflect.TypeFor[AuthMethod]():                 authMethodUnion(),
		reflect.TypeFor[ContentBlock]():               contentBlockUnion(),
		reflect.TypeFor[CreateElicitationRequest]():   elicitationRequestUnion(),
		reflect.TypeFor[CreateElicitationResponse]():  elicitationResponseUnion(),
		reflect.TypeFor[ElicitationContentValue]():    elicitationValueUnion(),
		reflect.TypeFor[ElicitationPropertySchema]():  elicitationPropertyUnion(),
		reflect.TypeFor[EmbeddedResourceResource]():   resourceUnion(),
		reflect.TypeFor[MCPServer]():                  mcpServerUnion(),
		reflect.TypeFor[MultiSelectItems]():           multiSelectUnion(),
		reflect.TypeFor[RequestPermissionOutcome]():   permissionOutcomeUnion(),
		reflect.TypeFor[SessionConfigOption]():        configOptionUnion(),
		reflect.TypeFor[SessionConfigSelectOptions](): selectOptionsUnion(),
		reflect.TypeFor[SessionConfigValue]():         configValueUnion(),
		reflect.TypeFor[SessionUpdate]():              sessionUpdateUnion(),
		reflect.TypeFor[ToolCallContent]():            toolCallContentUnion(),
	}
})

func unionPlan(t reflect.Type) plan {
	u := unions()[t]
	if u == nil {
		panic("acp: no union for " + t.String()) // see newPlan
	}
	return u.decode
}

func (u *union) decode(c *cursor, v reflect.Value) *problem {
	variant, name, p := u.variant(c)
	if p != nil {
		return p
	}
	n := reflect.New(variant).Elem()
	if variant == u.unknown {
		raw, p := c.raw()
		if p != nil {
			return p
		}
		n.FieldByName("Unknown").Set(reflect.ValueOf(Unknown{Tag: name, Raw: append(json.RawMessage(nil), raw...)}))
	} else if p := decoderOf(variant, false)(c, n); p != nil {
		return p
	}
	if u.settle != nil {
		n = reflect.ValueOf(u.settle(n.Interface()))
	}
	v.Set(n)
	return nil
}

// variant is the type that the next value has, with its tag; the value itself
// stays unread.
func (u *union) variant(c *cursor) (reflect.Type, string, *problem) {
	if u.pick != nil {
		t, p := u.pick(c)
		return t, "", p
	}
	name, found, p := c.peekTag(u.key)
	switch {
	case p != nil:
		return nil, "", p
	case !found && u.untagged != nil:
		return u.untagged, "", nil
	case !found:
		return nil, "", wrong(wantRequired).in(u.key)
	}
	if t := u.variants[name]; t != nil {
		return t, name, nil
	}
	if u.unknown == nil {
		return u.untagged, name, nil
	}
	return u.unknown, name, nil
}

// peekTag finds the string member key of the next object.
func (c *cursor) peekTag(key string) (name string, found bool, p *problem) {
	look := cursor{b: c.b, i: c.i}
	p = look.object(func(k []byte) *problem {
		if string(k) != key {
			return look.skip()
		}
		if look.null() {
			return nil
		}
		var p *problem
		if name, p = look.text(); p != nil {
			return p.in(key)
		}
		found = true
		return nil
	})
	return name, found, p
}

// has says whether the next value is an object with a member key that is not null.
func (c *cursor) has(key string) bool {
	look := cursor{b: c.b, i: c.i}
	found := false
	look.object(func(k []byte) *problem {
		if string(k) == key && look.kind() != 'n' {
			found = true
		}
		return look.skip()
	})
	return found
}
