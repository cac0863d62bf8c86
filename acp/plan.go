package acp

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A plan decodes the next value of the cursor into a settable v. It is worked
// out once for each type.
type plan func(c *cursor, v reflect.Value) *problem

// planKey tells apart the two ways to read a list: where the list is lenient,
// an element that is wrong is left out, else it is a problem.
type planKey struct {
	t       reflect.Type
	lenient bool
}

// plans caches what newPlan works out; it holds nothing that can change.
var plans sync.Map // planKey → plan

func decoderOf(t reflect.Type, lenient bool) plan {
	key := planKey{t, lenient}
	if p, ok := plans.Load(key); ok {
		return p.(plan)
	}
	p, _ := plans.LoadOrStore(key, newPlan(t, lenient))
	return p.(plan)
}

// custom is a type that reads itself.
type custom interface{ decode(c *cursor) *problem }

func newPlan(t reflect.Type, lenient bool) plan {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[custom]()) {
		return func(c *cursor, v reflect.Value) *problem { return v.Addr().Interface().(custom).decode(c) }
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return decodeRaw
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return decodeInt
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeUint
	case reflect.Float64:
		return decodeFloat
	case reflect.Pointer:
		return pointerPlan(t, lenient)
	case reflect.Slice:
		return slicePlan(t, lenient)
	case reflect.Map:
		return mapPlan(t)
	case reflect.Struct:
		return structPlan(t)
	case reflect.Interface:
		return unionPlan(t)
	}
	panic("acp: no plan for " + t.String()) // a type of this package that no test has seen
}

func decodeRaw(c *cursor, v reflect.Value) *problem {
	raw, p := c.raw()
	if p == nil {
		v.SetBytes(bytes.Clone(raw)) // the message it lies in may be large and is not kept
	}
	return p
}

func decodeString(c *cursor, v reflect.Value) *problem {
	s, p := c.text()
	if p == nil {
		v.SetString(s)
	}
	return p
}

func decodeBool(c *cursor, v reflect.Value) *problem {
	b, p := c.boolean()
	if p == nil {
		v.SetBool(b)
	}
	return p
}

func decodeInt(c *cursor, v reflect.Value) *problem {
	n, p := c.integer()
	if p == nil {
		v.SetInt(n)
	}
	return p
}

func decodeUint(c *cursor, v reflect.Value) *problem {
	n, p := c.integer()
	if p != nil {
		return p
	}
	if n < 0 || v.OverflowUint(uint64(n)) {
		limit := uint64(math.MaxInt64)
		if bits := v.Type().Bits(); bits < 64 {
			limit = 1<<bits - 1
		}
		return wrong("must be an integer from 0 to " + strconv.FormatUint(limit, 10))
	}
	v.SetUint(uint64(n))
	return nil
}

func decodeFloat(c *cursor, v reflect.Value) *problem {
	f, p := c.number()
	if p == nil {
		v.SetFloat(f)
	}
	return p
}

func pointerPlan(t reflect.Type, lenient bool) plan {
	elem := decoderOf(t.Elem(), lenient)
	return func(c *cursor, v reflect.Value) *problem {
		n := reflect.New(t.Elem())
		if p := elem(c, n.Elem()); p != nil {
			return p
		}
		v.Set(n)
		return nil
	}
}

func slicePlan(t reflect.Type, lenient bool) plan {
	elem := decoderOf(t.Elem(), lenient)
	return func(c *cursor, v reflect.Value) *problem {
		list := reflect.MakeSlice(t, 0, 0)
		p := c.array(func(i int) *problem {
			n := reflect.New(t.Elem()).Elem()
			start := c.i
			if p := elem(c, n); p != nil {
				if !lenient {
					return p.in(strconv.Itoa(i))
				}
				c.i = start
				return c.skip()
			}
			list = reflect.Append(list, n)
			return nil
		})
		if p == nil {
			v.Set(list)
		}
		return p
	}
}

func mapPlan(t reflect.Type) plan {
	elem := decoderOf(t.Elem(), false)
	return func(c *cursor, v reflect.Value) *problem {
		m := reflect.MakeMap(t)
		p := c.object(func(key []byte) *problem {
			n := reflect.New(t.Elem()).Elem()
			name := string(key)
			if p := elem(c, n); p != nil {
				return p.in(name)
			}
			m.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), n)
			return nil
		})
		if p == nil {
			v.Set(m)
		}
		return p
	}
}

// field is how one member of an object is read. Its tag says so:
//
//	acp:"required"  missing, null or wrong is a problem
//	acp:"strict"    missing or null is the zero value, wrong is a problem
//	(none)          missing, null or wrong is the zero value
type field struct {
	name     string
	index    []int
	plan     plan
	required bool
	strict   bool
	nullable bool // null is a value of the type
	bit      uint64
}

func structPlan(t reflect.Type) plan {
	fields := make(map[string]*field)
	var required []*field
	for _, f := range collectFields(t, nil) {
		fields[f.name] = f
		if f.required {
			f.bit = 1 << len(required)
			required = append(required, f)
		}
	}
	return func(c *cursor, v reflect.Value) *problem {
		var seen uint64
		p := c.object(func(key []byte) *problem {
			f := fields[string(key)]
			if f == nil {
				return c.skip()
			}
			return f.decode(c, v.FieldByIndex(f.index), &seen)
		})
		if p != nil {
			return p
		}
		return missing(required, seen)
	}
}

// missing names the first required field that was not seen.
func missing(required []*field, seen uint64) *problem {
	for _, f := range required {
		if seen&f.bit == 0 {
			return wrong(wantRequired).in(f.name)
		}
	}
	return nil
}

func (f *field) decode(c *cursor, v reflect.Value, seen *uint64) *problem {
	if !f.nullable && c.null() {
		v.SetZero()
		*seen &^= f.bit
		return nil
	}
	start := c.i
	p := f.plan(c, v)
	if p == nil {
		*seen |= f.bit
		return nil
	}
	if f.required || f.strict {
		return p.in(f.name)
	}
	v.SetZero()
	c.i = start
	return c.skip()
}

// collectFields lists the members of a struct in the order of declaration,
// those of embedded structs among them.
func collectFields(t reflect.Type, index []int) []*field {
	var fields []*field
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Anonymous && name == "":
			fields = append(fields, collectFields(sf.Type, at)...)
		case name == "" || name == "-" || sf.Type.Implements(reflect.TypeFor[tagger]()):
		default:
			rule := sf.Tag.Get("acp")
			f := &field{name: name, index: at, required: rule == "required", strict: rule == "strict"}
			f.nullable = sf.Type == reflect.TypeFor[RequestID]()
			f.plan = decoderOf(sf.Type, !f.required && !f.strict)
			fields = append(fields, f)
		}
	}
	return fields
}
