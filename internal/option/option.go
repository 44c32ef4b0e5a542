package option

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Option is a row of a [Table]: a field of a struct of options, the flag that sets it, and how a
// manifest records it. Flag, To and Help are required.
type Option struct {
	// Flag is the name on the command line and in configuration files and, with _ for each -, the key
	// in manifests.
	Flag string
	// Short is the letter of the flag's short form.
	Short string
	// To points to the field: without Set, a bool, a string, a number or a list of strings.
	To any
	// Not marks a bool that the flag sets to the opposite.
	Not bool
	// Set parses a value and sets the field. Default: by the type of the field.
	Set func(value string) error
	// Words are the values that shells offer. Without Set, other values are errors.
	Words []string
	// Many is the way to give several values. Default: there is only one, or, of a []string,
	// Repeated.
	Many Many
	// Bare is the value of the flag without one, if it may be given so.
	Bare string

	// Help describes the option to users of the command. The part in backquotes is the name of the value.
	Help string
	// Value is the name of the value if Help has none.
	Value string
	// Default is the value that the help shows, as the flag takes it. Without Set, the field gets it.
	// Default: the zero value.
	Default string
	// Group is the part of the help with the option.
	Group Group
	// Common marks an option that most users need. The short help of a verb with many flags has only these.
	Common bool
	// Since is the version that introduced the option. Default: FirstVersion.
	Since string
	// Once marks an option of one run, which configuration files cannot have.
	Once bool

	// Recorded reports whether the manifest has the option: the records of a set with these options
	// depend on it, and with another value it is another set. An option that is newer than existing sets
	// is recorded only if it is given, so that they stay up to date.
	Recorded bool
	// As returns the recorded value. Default: the value of the field.
	As func() any
	// Key is the key in manifests. Default: Flag, with _ for each -.
	Key string
	// Restore returns the values of the flag for the recorded options of a set; none if the default
	// applies, or if only the caller can give them. Default: by the JSON type of the value.
	Restore func(recorded map[string]json.RawMessage) ([]string, error)
	// RestoredBy is another flag that takes the values of Restore.
	RestoredBy string
	// Input returns a clause about the files that this option named when a set with the recorded options
	// was made; "" if it named none. A manifest has no paths, so the caller must name them again.
	Input func(recorded map[string]json.RawMessage) string

	// Needs lists the flags without which the option has no effect: a name, or a name and a value, such
	// as "fit pad".
	Needs []string
	// Excludes maps flags that cannot be given together with the option to the reason, which may be "".
	Excludes map[string]string
	// Check returns an error if the field has a value that the flag does not accept. It is called only
	// if the flag is given: fields may have 0 for a default.
	Check func() error

	field string // such as "LabelSpec.File"; see New
}

// Many is the way to give several values of an option.
type Many int

// The ways to give several values.
const (
	Repeated Many = iota + 1 // the flag is repeated
	Joined                   // with commas between them
)

// RecordedKey returns the key of the option in manifests.
func (o *Option) RecordedKey() string {
	if o.Key != "" {
		return o.Key
	}
	return strings.ReplaceAll(o.Flag, "-", "_")
}

// Field returns the struct and the name of the field, such as "LabelSpec.File"; "" if To does not
// point to a field of the table's struct.
func (o *Option) Field() string { return o.field }

// value returns the value to record.
func (o *Option) value() any {
	if o.As != nil {
		return o.As()
	}
	if to, ok := o.To.(*bool); ok {
		return *to != o.Not
	}
	return reflect.ValueOf(o.To).Elem().Interface()
}

// Table has the options of a struct.
type Table []Option

// New returns the table of the options of the struct that root points to, including the options of
// structs within it.
func New(root any, groups ...[]Option) Table {
	t := Table(slices.Concat(groups...))
	names := map[any]string{}
	nameFields(names, reflect.ValueOf(root).Elem())
	for i := range t {
		t[i].field = names[t[i].To]
	}
	return t
}

// nameFields adds the names of the exported fields of a struct, by pointer.
func nameFields(names map[any]string, s reflect.Value) {
	for i := range s.NumField() {
		field := s.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		names[s.Field(i).Addr().Interface()] = s.Type().Name() + "." + field.Name
		if field.Type.Kind() == reflect.Struct {
			nameFields(names, s.Field(i))
		}
	}
}

// Find returns the option of a flag, or nil.
func (t Table) Find(flag string) *Option {
	return t.first(func(o *Option) bool { return o.Flag == flag })
}

// ByKey returns the first option that manifests record under a key, or nil.
func (t Table) ByKey(key string) *Option {
	return t.first(func(o *Option) bool { return o.RecordedKey() == key })
}

func (t Table) first(matches func(*Option) bool) *Option {
	for i := range t {
		if matches(&t[i]) {
			return &t[i]
		}
	}
	return nil
}

// Recorded returns the options that the records depend on, by their keys in manifests.
func (t Table) Recorded() map[string]any {
	m := map[string]any{}
	for i := range t {
		if o := &t[i]; o.Recorded {
			m[o.RecordedKey()] = o.value()
		}
	}
	return m
}
