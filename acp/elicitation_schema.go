package acp

import (
	"bytes"
	"reflect"
)

// ElicitationSchema describes a form: a flat object, one property a field.
type ElicitationSchema struct {
	Tag         tag[ElicitationSchema] `json:"type"`
	Title       string                 `json:"title,omitzero"`
	Description string                 `json:"description,omitzero"`
	Properties  ElicitationProperties  `json:"properties"`
	Required    []string               `json:"required,omitzero" acp:"strict"`
	Meta        Meta                   `json:"_meta,omitzero"`
}

func (ElicitationSchema) tag() string { return "object" }

// ElicitationProperties are the fields of a form in the order in which they are
// shown. On the wire they are one object.
type ElicitationProperties []ElicitationProperty

// ElicitationProperty is a field of a form.
type ElicitationProperty struct {
	Name   string
	Schema ElicitationPropertySchema // not nil
}

// MarshalJSON writes the object with its members in order.
func (ps ElicitationProperties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(p.Name)
		if err != nil {
			return nil, err
		}
		schema, err := marshal(p.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads the object as Decode does.
func (ps *ElicitationProperties) UnmarshalJSON(b []byte) error { return unmarshal(b, ps) }

func (ps *ElicitationProperties) decode(c *cursor) *problem {
	read := decoderOf(reflect.TypeFor[ElicitationPropertySchema](), false)
	var list ElicitationProperties
	p := c.object(func(key []byte) *problem {
		prop := ElicitationProperty{Name: string(key)}
		if p := read(c, reflect.ValueOf(&prop.Schema).Elem()); p != nil {
			return p.in(prop.Name)
		}
		list = append(list, prop)
		return nil
	})
	if p == nil {
		*ps = list
	}
	return p
}

// ElicitationPropertySchema describes a field of a form: StringPropertySchema,
// NumberPropertySchema, IntegerPropertySchema, BooleanPropertySchema,
// MultiSelectPropertySchema or UnknownPropertySchema.
type ElicitationPropertySchema interface{ elicitationProperty() }

// StringPropertySchema is a text field, or a choice of one where Enum or OneOf is set.
type StringPropertySchema struct {
	Tag         tag[StringPropertySchema] `json:"type"`
	Title       string                    `json:"title,omitzero"`
	Description string                    `json:"description,omitzero"`
	MinLength   *uint32                   `json:"minLength,omitzero"`
	MaxLength   *uint32                   `json:"maxLength,omitzero"`
	Pattern     string                    `json:"pattern,omitzero"`
	Format      StringFormat              `json:"format,omitzero"`
	Default     *string                   `json:"default,omitzero"`
	Enum        []string                  `json:"enum,omitzero" acp:"strict"`
	OneOf       []EnumOption              `json:"oneOf,omitzero" acp:"strict"`
	Meta        Meta                      `json:"_meta,omitzero"`
}

// NumberPropertySchema is a field for a number.
type NumberPropertySchema struct {
	Tag         tag[NumberPropertySchema] `json:"type"`
	Title       string                    `json:"title,omitzero"`
	Description string                    `json:"description,omitzero"`
	Minimum     *float64                  `json:"minimum,omitzero"`
	Maximum     *float64                  `json:"maximum,omitzero"`
	Default     *float64                  `json:"default,omitzero"`
	Meta        Meta                      `json:"_meta,omitzero"`
}

// IntegerPropertySchema is a field for a whole number.
type IntegerPropertySchema struct {
	Tag         tag[IntegerPropertySchema] `json:"type"`
	Title       string                     `json:"title,omitzero"`
	Description string                     `json:"description,omitzero"`
	Minimum     *int64                     `json:"minimum,omitzero"`
	Maximum     *int64                     `json:"maximum,omitzero"`
	Default     *int64                     `json:"default,omitzero"`
	Meta        Meta                       `json:"_meta,omitzero"`
}

// BooleanPropertySchema is a check box.
type BooleanPropertySchema struct {
	Tag         tag[BooleanPropertySchema] `json:"type"`
	Title       string                     `json:"title,omitzero"`
	Description string                     `json:"description,omitzero"`
	Default     *bool                      `json:"default,omitzero"`
	Meta        Meta                       `json:"_meta,omitzero"`
}

// MultiSelectPropertySchema is a choice of several.
type MultiSelectPropertySchema struct {
	Tag         tag[MultiSelectPropertySchema] `json:"type"`
	Title       string                         `json:"title,omitzero"`
	Description string                         `json:"description,omitzero"`
	MinItems    *uint64                        `json:"minItems,omitzero"`
	MaxItems    *uint64                        `json:"maxItems,omitzero"`
	Items       MultiSelectItems               `json:"items" acp:"required"` // not nil
	Default     []string                       `json:"default,omitzero"`
	Meta        Meta                           `json:"_meta,omitzero"`
}

// UnknownPropertySchema has a type that this version does not know.
type UnknownPropertySchema struct{ Unknown }

func (StringPropertySchema) elicitationProperty()      {}
func (NumberPropertySchema) elicitationProperty()      {}
func (IntegerPropertySchema) elicitationProperty()     {}
func (BooleanPropertySchema) elicitationProperty()     {}
func (MultiSelectPropertySchema) elicitationProperty() {}
func (UnknownPropertySchema) elicitationProperty()     {}

func (StringPropertySchema) tag() string      { return "string" }
func (NumberPropertySchema) tag() string      { return "number" }
func (IntegerPropertySchema) tag() string     { return "integer" }
func (BooleanPropertySchema) tag() string     { return "boolean" }
func (MultiSelectPropertySchema) tag() string { return "array" }

func elicitationPropertyUnion() *union {
	return taggedUnion[ElicitationPropertySchema]("type", UnknownPropertySchema{},
		StringPropertySchema{}, NumberPropertySchema{}, IntegerPropertySchema{}, BooleanPropertySchema{}, MultiSelectPropertySchema{})
}

// StringFormat is what a text field takes.
type StringFormat string

// The formats of the protocol.
const (
	FormatEmail    StringFormat = "email"
	FormatURI      StringFormat = "uri"
	FormatDate     StringFormat = "date"
	FormatDateTime StringFormat = "date-time"
)

// EnumOption is a value with a title.
type EnumOption struct {
	Const       string `json:"const" acp:"required"`
	Title       string `json:"title" acp:"required"`
	Description string `json:"description,omitzero"`
	Meta        Meta   `json:"_meta,omitzero"`
}

// MultiSelectItems are the values of a choice of several: StringMultiSelectItems,
// TitledMultiSelectItems, which has no type on the wire, or
// UnknownMultiSelectItems.
type MultiSelectItems interface{ multiSelectItems() }

// StringMultiSelectItems are plain values.
type StringMultiSelectItems struct {
	Tag  tag[StringMultiSelectItems] `json:"type"`
	Enum List[string]                `json:"enum" acp:"required"`
	Meta Meta                        `json:"_meta,omitzero"`
}

// TitledMultiSelectItems are values with titles.
type TitledMultiSelectItems struct {
	AnyOf List[EnumOption] `json:"anyOf" acp:"required"`
	Meta  Meta             `json:"_meta,omitzero"`
}

// UnknownMultiSelectItems have a type that this version does not know.
type UnknownMultiSelectItems struct{ Unknown }

func (StringMultiSelectItems) multiSelectItems()  {}
func (TitledMultiSelectItems) multiSelectItems()  {}
func (UnknownMultiSelectItems) multiSelectItems() {}

func (StringMultiSelectItems) tag() string { return "string" }

func multiSelectUnion() *union {
	u := taggedUnion[MultiSelectItems]("type", UnknownMultiSelectItems{}, StringMultiSelectItems{})
	u.untagged = reflect.TypeFor[TitledMultiSelectItems]()
	return u
}
