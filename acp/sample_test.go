package acp

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// wordsOf are valid values of the string types that the schema closes.
var wordsOf = map[reflect.Type]string{
	reflect.TypeFor[ToolKind]():                    string(ToolKindEdit),
	reflect.TypeFor[ToolCallStatus]():              string(ToolCallInProgress),
	reflect.TypeFor[StopReason]():                  string(StopMaxTokens),
	reflect.TypeFor[PermissionOptionKind]():        string(PermissionAllowAlways),
	reflect.TypeFor[PlanEntryPriority]():           string(PlanMedium),
	reflect.TypeFor[PlanEntryStatus]():             string(PlanInProgress),
	reflect.TypeFor[Role]():                        string(RoleUser),
	reflect.TypeFor[StringFormat]():                string(FormatEmail),
	reflect.TypeFor[NoticeSeverity]():              string(NoticeWarning),
	reflect.TypeFor[CompactionStatus]():            string(CompactionFailed),
	reflect.TypeFor[SessionConfigOptionCategory](): string(CategoryModelConfig),
}

// sampler makes values of a type with every field filled in. Each union takes
// the turn-th of its variants, lists of a union take all.
type sampler struct{ turn int }

func (s *sampler) fill(v reflect.Value) {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"raw":[1,"<>&"]}`))
		return
	case t == reflect.TypeFor[Meta]():
		v.Set(reflect.ValueOf(Meta{"note": "<kept>", "n": json.Number("12345678901234567890")}))
		return
	case t == reflect.TypeFor[RequestID]():
		v.Set(reflect.ValueOf(NewRequestID([]byte(`"r-1"`))))
		return
	case t.Implements(reflect.TypeFor[tagger]()):
		return
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString("text <b>&\n\u2028")
		if w, ok := wordsOf[t]; ok {
			v.SetString(w)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(41)
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(42)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		s.fill(v.Elem())
	case reflect.Map:
		elem := reflect.New(t.Elem()).Elem()
		s.fill(elem)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.ValueOf("key").Convert(t.Key()), elem)
	case reflect.Slice:
		s.fillList(v)
	case reflect.Struct:
		for i := range t.NumField() {
			s.fill(v.Field(i))
		}
	case reflect.Interface:
		variants := variantsOf(t)
		s.fillVariant(v, variants[s.turn%len(variants)])
	default:
		panic(t.String())
	}
}

func (s *sampler) fillList(v reflect.Value) {
	elem := v.Type().Elem()
	if elem.Kind() != reflect.Interface {
		n := reflect.New(elem).Elem()
		s.fill(n)
		v.Set(reflect.Append(reflect.MakeSlice(v.Type(), 0, 1), n))
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	for _, variant := range variantsOf(elem) {
		n := reflect.New(elem).Elem()
		s.fillVariant(n, variant)
		list = reflect.Append(list, n)
	}
	v.Set(list)
}

func (s *sampler) fillVariant(v reflect.Value, variant reflect.Type) {
	n := reflect.New(variant).Elem()
	s.fill(n)
	v.Set(n)
}

// variantsOf lists the known variants of a union in a fixed order.
func variantsOf(t reflect.Type) []reflect.Type {
	u := unions()[t]
	var variants []reflect.Type
	for _, v := range u.variants {
		variants = append(variants, v)
	}
	if u.untagged != nil && !slices.Contains(variants, u.untagged) {
		variants = append(variants, u.untagged)
	}
	variants = append(variants, picked[t]...)
	slices.SortFunc(variants, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	return variants
}

// picked are the variants of the unions that have no tag.
var picked = map[reflect.Type][]reflect.Type{
	reflect.TypeFor[EmbeddedResourceResource]():   {reflect.TypeFor[TextResourceContents](), reflect.TypeFor[BlobResourceContents]()},
	reflect.TypeFor[SessionConfigSelectOptions](): {reflect.TypeFor[SelectOptions](), reflect.TypeFor[SelectGroups]()},
	reflect.TypeFor[SessionConfigValue]():         {reflect.TypeFor[SessionConfigValueID](), reflect.TypeFor[SessionConfigSwitch]()},
	reflect.TypeFor[ElicitationContentValue](): {reflect.TypeFor[ElicitationString](), reflect.TypeFor[ElicitationInteger](),
		reflect.TypeFor[ElicitationNumber](), reflect.TypeFor[ElicitationBoolean](), reflect.TypeFor[ElicitationStrings]()},
}

// maxTurns is the size of the largest union.
const maxTurns = 14

// samplesOf are filled-in values of T, enough to have seen every variant.
func samplesOf(t reflect.Type) []any {
	var values []any
	var seen []string
	for turn := range maxTurns {
		v := reflect.New(t).Elem()
		(&sampler{turn}).fill(v)
		text, err := marshal(v.Interface())
		if err != nil {
			panic(err)
		}
		if !slices.Contains(seen, string(text)) {
			seen = append(seen, string(text))
			values = append(values, v.Interface())
		}
	}
	return values
}
