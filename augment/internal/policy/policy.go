package policy

import (
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment/internal/operation"
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// Policy describes random changes of images: operations in order, each with the ranges of its
// parameters and a probability. It is immutable and safe for concurrent use.
type Policy struct {
	operations []*operation.Operation
	mix        int // index of the one that mixes images; -1 for none
}

// ParsePolicy reads a policy from its short form:
//
//	random_resized_crop:224,scale=0.3-1|hflip|one_of:p=0.5(posterize:4|solarize:128)
//
// Operations are separated by |. After : are the parameters, in the order of [operation.Operations]
// or by name, with commas between them. A range is lo-hi or lo..hi. Groups hold operations in
// parentheses. Spaces don't matter. Errors are of type [*SpecError] and point at the word that is
// wrong.
func ParsePolicy(spec string) (*Policy, error) {
	calls, err := readText(spec, 1, 1)
	if err != nil {
		return nil, err
	}
	return compile(calls)
}

// String returns the policy in its short form, the same for all equivalent texts: without
// parameters that have their default. ParsePolicy makes an equal policy of it.
func (p *Policy) String() string {
	var b strings.Builder
	writeOperations(&b, p.operations)
	return b.String()
}

// Draw decides the steps for an image of w x h pixels. The result depends only on the arguments:
// the seed, the image's key, the number of the variant, from 1, and the size. Other draws have no
// influence. It is [Policy.DrawBoxes] for an image without objects.
func (p *Policy) Draw(seed uint64, key string, copy, w, h int) steps.Draw {
	return p.DrawBoxes(seed, key, copy, w, h, nil)
}

// DrawBoxes is Draw for an image with objects at the boxes, in pixels of the upright image, which
// iou_crop looks at: as they are after the steps before it. Without iou_crop in the policy they
// have no influence. They are neither changed nor kept. An operation that mixes images is left out:
// see [Policy.DrawMixed].
func (p *Policy) DrawBoxes(seed uint64, key string, copy, w, h int, boxes []bitmap.Box) steps.Draw {
	return p.DrawMixed(seed, key, copy, w, h, boxes, nil)
}

func compile(calls []call) (*Policy, error) {
	operations, err := compileAll(calls)
	if err != nil {
		return nil, err
	}
	mix, err := checkMix(calls)
	if err != nil {
		return nil, err
	}
	return &Policy{operations, mix}, nil
}

func compileAll(calls []call) ([]*operation.Operation, error) {
	operations := make([]*operation.Operation, len(calls))
	for i := range calls {
		var err error
		if operations[i], err = compileOne(&calls[i]); err != nil {
			return nil, err
		}
	}
	return operations, nil
}

func compileOne(c *call) (*operation.Operation, error) {
	def := operation.Define(c.name.text)
	if def == nil {
		return nil, c.name.unknown("operation", operation.OperationNames())
	}
	if def.Group != c.group {
		if def.Group {
			return nil, c.name.wrong("want the operations of the group after it: %s(hflip|vflip)", def.Name)
		}
		return nil, c.name.wrong("holds no other operations; groups are one_of, some_of and sequence")
	}
	o := &operation.Operation{Settings: operation.Settings{Of: def, Values: make([]operation.Value, len(def.Parameters))}}
	given, err := fill(o.Settings, c)
	if err != nil {
		return nil, err
	}
	if o.Operations, err = compileAll(c.operations); err != nil {
		return nil, err
	}
	for i := range c.operations {
		if name := c.operations[i].name; steps.PartnersOf(name.text) > 0 {
			return nil, name.wrong("mixes images, which is not for groups: write it outside of %s", def.Name)
		}
	}
	if def.Check != nil {
		if name, reason := def.Check(o.Settings, len(o.Operations)); name != "" {
			return nil, given[def.Index(name)].wrong("%s: %s", name, reason)
		}
	}
	o.P = o.Settings.Number("p")
	if def.Sampler != nil {
		o.Sample = def.Sampler(o.Settings, o.Operations)
	}
	return o, nil
}

// fill reads a call's arguments, and takes the defaults for others. It returns
// the word that each value came from: the operation's name for a default.
func fill(s operation.Settings, c *call) ([]word, error) {
	def := s.Of
	given := make([]word, len(def.Parameters))
	named := false
	for i, a := range c.arguments {
		at := i
		if named = named || a.name.text != ""; !named {
			if i >= len(def.Parameters) {
				return nil, a.value.wrong("one value too many: %s takes %s", def.Name, strings.Join(def.ParameterNames(), ", "))
			}
		} else {
			if a.name.text == "" {
				return nil, a.value.wrong("an unnamed value must not follow a named one: write name=value")
			}
			if at = def.Index(a.name.text); at < 0 {
				return nil, a.name.unknown("parameter of "+def.Name, def.ParameterNames())
			}
			if given[at].line != 0 {
				return nil, a.name.wrong("given twice")
			}
		}
		given[at] = a.value
		v, err := read(&def.Parameters[at], a)
		if err != nil {
			return nil, a.value.wrong("%v", err)
		}
		s.Values[at] = v
	}
	for i := range def.Parameters {
		p := &def.Parameters[i]
		if given[i].line != 0 {
			continue
		}
		if p.Initial == "" {
			return nil, c.name.wrong("%s is missing: want %s", p.Name, p.Allowed())
		}
		given[i] = c.name
		s.Values[i] = p.Fallback()
	}
	return given, nil
}

// read reads an argument, which may be a list.
func read(p *operation.Parameter, a argument) (operation.Value, error) {
	if a.list == nil {
		return p.Parse(a.value.text)
	}
	texts := make([]string, len(a.list))
	for i, w := range a.list {
		texts[i] = w.text
	}
	text, ok := p.Join(texts)
	if !ok {
		return operation.Value{}, p.Refusal()
	}
	return p.Parse(text)
}

func writeOperations(b *strings.Builder, operations []*operation.Operation) {
	for i, o := range operations {
		if i > 0 {
			b.WriteByte('|')
		}
		write(b, o)
	}
}

// write names a parameter only after one that was left out.
func write(b *strings.Builder, o *operation.Operation) {
	b.WriteString(o.Settings.Of.Name)
	left, written := false, false
	for i, v := range o.Settings.Values {
		p := &o.Settings.Of.Parameters[i]
		if p.Initial != "" && v == p.Fallback() {
			left = true
			continue
		}
		if written {
			b.WriteByte(',')
		} else {
			b.WriteByte(':')
		}
		if written = true; left {
			b.WriteString(p.Name + "=")
		}
		b.WriteString(p.Format(v))
	}
	if o.Settings.Of.Group {
		b.WriteByte('(')
		writeOperations(b, o.Operations)
		b.WriteByte(')')
	}
}

// Mirrors reports whether the policy has an operation whose draws may mirror images: see
// [steps.Draw.Mirrors].
func (p *Policy) Mirrors() bool { return anyMirrors(p.operations) }

func anyMirrors(operations []*operation.Operation) bool {
	return slices.ContainsFunc(operations, func(o *operation.Operation) bool {
		name := o.Settings.Of.Name
		return o.P > 0 && (name == steps.Op((steps.HFlip{})) || name == steps.Op((steps.VFlip{})) || anyMirrors(o.Operations))
	})
}
