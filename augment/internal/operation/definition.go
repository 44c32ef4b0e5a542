package operation

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// Description describes an operation of a policy.
type Description struct {
	// Name is the operation's name in a policy, such as "hflip".
	Name string `json:"name"`
	// Kind is "shape", "color", "degrade", "policy", "mix" or "group".
	Kind string `json:"kind"`
	// About describes the operation in a sentence.
	About string `json:"about"`
	// Torchvision is its counterpart in torchvision.transforms.v2; "" for none.
	Torchvision string `json:"torchvision,omitempty"`
	// Parameters are in the order in which they may be given without name.
	Parameters []ParameterDescription `json:"parameters"`
}

// ParameterDescription describes a parameter of an operation.
type ParameterDescription struct {
	// Name is the parameter's name in a policy, such as "scale".
	Name string `json:"name"`
	// Default is its value as it would be written; "" when it must be given.
	Default string `json:"default"`
	// Allowed describes the allowed values, and their unit if they have one.
	Allowed string `json:"allowed"`
	// About describes the parameter.
	About string `json:"about"`
}

// Operations describes all operations, in the order of the documentation.
func Operations() []Description {
	all := make([]Description, 0, len(definitions()))
	for _, d := range definitions() {
		o := Description{Name: d.Name, Kind: d.kind, About: d.about, Torchvision: d.torchvision}
		for _, p := range d.Parameters {
			o.Parameters = append(o.Parameters, ParameterDescription{Name: p.Name, Default: p.Initial, Allowed: p.Allowed(), About: p.about})
		}
		all = append(all, o)
	}
	return all
}

// MaxOperations is the maximum number of operations in a policy.
const MaxOperations = 1000

// Definition is an operation that a policy may hold.
type Definition struct {
	Name, kind, about, torchvision string
	// Parameters in the order of arguments without name. The last one is p.
	Parameters []Parameter
	// Group reports whether the operation holds others.
	Group bool
	// Check looks at what parameters mean together: it returns the name of the
	// wrong one and the reason, or "". It may be nil.
	Check func(s Settings, operations int) (name, reason string)
	// Sampler makes what decides for an image; nil for what mixes images.
	Sampler func(s Settings, operations []*Operation) sampler
}

// Parameter is one that an operation takes.
type Parameter struct {
	Name  string
	kind  kind
	about string
	// Initial is the default as it would be written, "" for none.
	Initial string
	// min and max are the limits of each number.
	min, max     float64
	integer, odd bool
	// words are values that aren't numbers.
	words []string
}

// Settings are the values of all parameters.
type Settings struct {
	Of     *Definition
	Values []Value
}

// get returns the value of a parameter, which the definition must have.
func (s Settings) get(name string) Value {
	i := s.Of.Index(name)
	if i < 0 {
		panic(fmt.Sprintf("augment: %s has no parameter %s", s.Of.Name, name))
	}
	return s.Values[i]
}

func (s Settings) span(name string) span { return s.get(name).x }

// Number returns the value of a parameter that is a number.
func (s Settings) Number(name string) float64 { return s.get(name).x.lo }
func (s Settings) integer(name string) int    { return int(s.Number(name)) }
func (s Settings) numbers(name string) []float64 {
	p := &s.Of.Parameters[s.Of.Index(name)]
	numbers, err := p.list(s.get(name).word)
	if err != nil {
		panic("augment: " + name + " is not a list: " + err.Error())
	}
	return numbers
}
func (s Settings) color(name string) [3]uint8 { return s.get(name).color }
func (s Settings) is(name, word string) bool  { return s.get(name).word == word }

func (s Settings) filter(name string) resample.Filter {
	return resample.Filter(slices.Index(resample.FilterNames[:], s.get(name).word))
}

// Index is the place of a parameter; -1 for none of that name.
func (d *Definition) Index(name string) int {
	return slices.IndexFunc(d.Parameters, func(p Parameter) bool { return p.Name == name })
}

// ParameterNames returns the names of the parameters, in their order.
func (d *Definition) ParameterNames() []string {
	names := make([]string, len(d.Parameters))
	for i, p := range d.Parameters {
		names[i] = p.Name
	}
	return names
}

// definitions holds all operations.
var definitions = sync.OnceValue(func() []*Definition {
	return slices.Concat(shapeOperations(), colorOperations(), degradeOperations(), learnedOperations(), mixOperations(), groupOperations())
})

// OperationNames are the names of all operations.
func OperationNames() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.Name)
	}
	return names
}

// Define finds a definition; nil for none of that name.
func Define(name string) *Definition {
	for _, d := range definitions() {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Parameters that several operations have.

// chance is the probability of an operation.
func chance(initial string) Parameter {
	return Parameter{Name: "p", Initial: initial, max: 1, about: "probability of applying it"}
}

func fillColor() Parameter {
	return Parameter{Name: "fill", kind: kindColor, Initial: "0", max: 255, integer: true, about: "colour of pixels from outside the image"}
}

// transformFilter is the filter of what turns, shears and tilts.
func transformFilter(initial string) Parameter {
	return Parameter{Name: "filter", kind: kindWord, Initial: initial, words: []string{"nearest", "bilinear", "bicubic"}, about: "how neighbouring pixels are interpolated"}
}

func resizeFilter() Parameter {
	return Parameter{Name: "filter", kind: kindWord, Initial: "bilinear", words: resample.FilterNames[:], about: "how neighbouring pixels are interpolated"}
}

func yesNo(name, initial, about string) Parameter {
	return Parameter{Name: name, kind: kindWord, Initial: initial, words: []string{"true", "false"}, about: about}
}

func sizeOf(about string) Parameter {
	return Parameter{Name: "size", kind: kindSize, min: 1, max: bitmap.MaxSide, integer: true, about: about}
}
