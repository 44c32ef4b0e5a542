package augment

import (
	"fmt"
	"slices"
	"sync"
)

// Operation describes an operation of a policy.
type Operation struct {
	// Name is the operation's name in a policy, such as "hflip".
	Name string `json:"name"`
	// Kind is "shape", "color", "degrade", "policy", "mix" or "group".
	Kind string `json:"kind"`
	// About describes the operation in a sentence.
	About string `json:"about"`
	// Torchvision is its counterpart in torchvision.transforms.v2; "" for none.
	Torchvision string `json:"torchvision,omitempty"`
	// Parameters are in the order in which they may be given without name.
	Parameters []Parameter `json:"parameters"`
}

// Parameter describes a parameter of an [Operation].
type Parameter struct {
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
func Operations() []Operation {
	all := make([]Operation, 0, len(definitions()))
	for _, d := range definitions() {
		o := Operation{Name: d.name, Kind: d.kind, About: d.about, Torchvision: d.torchvision}
		for _, p := range d.parameters {
			o.Parameters = append(o.Parameters, Parameter{Name: p.name, Default: p.initial, Allowed: p.allowed(), About: p.about})
		}
		all = append(all, o)
	}
	return all
}

// maxOperations is the maximum number of operations in a policy.
const maxOperations = 1000

// definition is an operation that a policy may hold.
type definition struct {
	name, kind, about, torchvision string
	// parameters in the order of arguments without name. The last one is p.
	parameters []parameter
	// group reports whether the operation holds others.
	group bool
	// check looks at what parameters mean together: it returns the name of the
	// wrong one and the reason, or "". It may be nil.
	check func(s settings, operations int) (name, reason string)
	// sampler makes what decides for an image; nil for what mixes images.
	sampler func(s settings, operations []*operation) sampler
}

// parameter is one that an operation takes.
type parameter struct {
	name  string
	kind  kind
	about string
	// initial is the default as it would be written, "" for none.
	initial string
	// min and max are the limits of each number.
	min, max     float64
	integer, odd bool
	// words are values that aren't numbers.
	words []string
}

// settings are the values of all parameters.
type settings struct {
	of     *definition
	values []value
}

// get returns the value of a parameter, which the definition must have.
func (s settings) get(name string) value {
	i := s.of.index(name)
	if i < 0 {
		panic(fmt.Sprintf("augment: %s has no parameter %s", s.of.name, name))
	}
	return s.values[i]
}

func (s settings) span(name string) span      { return s.get(name).x }
func (s settings) number(name string) float64 { return s.get(name).x.lo }
func (s settings) integer(name string) int    { return int(s.number(name)) }
func (s settings) numbers(name string) []float64 {
	p := &s.of.parameters[s.of.index(name)]
	numbers, err := p.list(s.get(name).word)
	if err != nil {
		panic("augment: " + name + " is not a list: " + err.Error())
	}
	return numbers
}
func (s settings) color(name string) [3]uint8 { return s.get(name).color }
func (s settings) is(name, word string) bool  { return s.get(name).word == word }

func (s settings) filter(name string) Filter {
	return Filter(slices.Index(filterNames[:], s.get(name).word))
}

// index is the place of a parameter; -1 for none of that name.
func (d *definition) index(name string) int {
	return slices.IndexFunc(d.parameters, func(p parameter) bool { return p.name == name })
}

func (d *definition) parameterNames() []string {
	names := make([]string, len(d.parameters))
	for i, p := range d.parameters {
		names[i] = p.name
	}
	return names
}

// definitions holds all operations.
var definitions = sync.OnceValue(func() []*definition {
	return slices.Concat(shapeOperations(), colorOperations(), degradeOperations(), learnedOperations(), mixOperations(), groupOperations())
})

// operationNames are the names of all operations.
func operationNames() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.name)
	}
	return names
}

// define finds a definition; nil for none of that name.
func define(name string) *definition {
	for _, d := range definitions() {
		if d.name == name {
			return d
		}
	}
	return nil
}

// Parameters that several operations have.

// chance is the probability of an operation.
func chance(initial string) parameter {
	return parameter{name: "p", initial: initial, max: 1, about: "probability of applying it"}
}

func fillColor() parameter {
	return parameter{name: "fill", kind: kindColor, initial: "0", max: 255, integer: true, about: "colour of pixels from outside the image"}
}

// transformFilter is the filter of what turns, shears and tilts.
func transformFilter(initial string) parameter {
	return parameter{name: "filter", kind: kindWord, initial: initial, words: []string{"nearest", "bilinear", "bicubic"}, about: "how neighbouring pixels are interpolated"}
}

func resizeFilter() parameter {
	return parameter{name: "filter", kind: kindWord, initial: "bilinear", words: filterNames[:], about: "how neighbouring pixels are interpolated"}
}

func yesNo(name, initial, about string) parameter {
	return parameter{name: name, kind: kindWord, initial: initial, words: []string{"true", "false"}, about: about}
}

func sizeOf(about string) parameter {
	return parameter{name: "size", kind: kindSize, min: 1, max: MaxSide, integer: true, about: about}
}
