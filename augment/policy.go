package augment

import "strings"

// Policy describes random changes of images: operations in order, each with the ranges of its
// parameters and a probability. It is immutable and safe for concurrent use.
type Policy struct {
	operations []*operation
	mix        int // index of the one that mixes images; -1 for none
}

// ParsePolicy reads a policy from its short form:
//
//	random_resized_crop:224,scale=0.3-1|hflip|one_of:p=0.5(posterize:4|solarize:128)
//
// Operations are separated by |. After : are the parameters, in the order of [Operations] or by
// name, with commas between them. A range is lo-hi or lo..hi. Groups hold operations in
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
func (p *Policy) Draw(seed uint64, key string, copy, w, h int) Draw {
	return p.DrawBoxes(seed, key, copy, w, h, nil)
}

// DrawBoxes is Draw for an image with objects at the boxes, in pixels of the upright image, which
// iou_crop looks at: as they are after the steps before it. Without iou_crop in the policy they
// have no influence. They are neither changed nor kept. An operation that mixes images is left out:
// see [Policy.DrawMixed].
func (p *Policy) DrawBoxes(seed uint64, key string, copy, w, h int, boxes []Box) Draw {
	return p.DrawMixed(seed, key, copy, w, h, boxes, nil)
}

// drawing is a draw in the making.
type drawing struct {
	random        random
	steps         []Step
	width, height int // after the steps so far

	boxes                   []Box // before step first
	first                   int   // 0, or that after a mixture
	firstWidth, firstHeight int
}

func newDrawing(r random, w, h int, boxes []Box) *drawing {
	w, h = max(w, 1), max(h, 1)
	return &drawing{random: r, width: w, height: h, boxes: boxes, firstWidth: w, firstHeight: h}
}

func (d *drawing) add(s Step) {
	d.steps = append(d.steps, s)
	d.width, d.height = s.size(d.width, d.height)
}

// from draws a number of a span.
func (d *drawing) from(s span) float64 { return d.random.between(s.lo, s.hi) }

// whole draws a whole number of a span of such.
func (d *drawing) whole(s span) int { return d.random.integer(int(s.lo), int(s.hi)) }

// sampler draws an operation's parameters and adds its steps.
type sampler func(*drawing)

// operation is one in a policy.
type operation struct {
	settings   settings
	p          float64
	operations []*operation // of a group
	sample     sampler
}

func (o *operation) draw(d *drawing) {
	if d.random.chance(o.p) {
		o.sample(d)
	}
}

func drawAll(operations []*operation, d *drawing) {
	for _, o := range operations {
		o.draw(d)
	}
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

func compileAll(calls []call) ([]*operation, error) {
	operations := make([]*operation, len(calls))
	for i := range calls {
		var err error
		if operations[i], err = compileOne(&calls[i]); err != nil {
			return nil, err
		}
	}
	return operations, nil
}

func compileOne(c *call) (*operation, error) {
	def := define(c.name.text)
	if def == nil {
		return nil, c.name.unknown("operation", operationNames())
	}
	if def.group != c.group {
		if def.group {
			return nil, c.name.wrong("want the operations of the group after it: %s(hflip|vflip)", def.name)
		}
		return nil, c.name.wrong("holds no other operations; groups are one_of, some_of and sequence")
	}
	o := &operation{settings: settings{def, make([]value, len(def.parameters))}}
	given, err := o.settings.fill(c)
	if err != nil {
		return nil, err
	}
	if o.operations, err = compileAll(c.operations); err != nil {
		return nil, err
	}
	for i := range c.operations {
		if name := c.operations[i].name; partnersOf(name.text) > 0 {
			return nil, name.wrong("mixes images, which is not for groups: write it outside of %s", def.name)
		}
	}
	if def.check != nil {
		if name, reason := def.check(o.settings, len(o.operations)); name != "" {
			return nil, given[def.index(name)].wrong("%s: %s", name, reason)
		}
	}
	o.p = o.settings.number("p")
	if def.sampler != nil {
		o.sample = def.sampler(o.settings, o.operations)
	}
	return o, nil
}

// fill reads a call's arguments, and takes the defaults for others. It returns
// the word that each value came from: the operation's name for a default.
func (s settings) fill(c *call) ([]word, error) {
	def := s.of
	given := make([]word, len(def.parameters))
	named := false
	for i, a := range c.arguments {
		at := i
		if named = named || a.name.text != ""; !named {
			if i >= len(def.parameters) {
				return nil, a.value.wrong("one value too many: %s takes %s", def.name, strings.Join(def.parameterNames(), ", "))
			}
		} else {
			if a.name.text == "" {
				return nil, a.value.wrong("an unnamed value must not follow a named one: write name=value")
			}
			if at = def.index(a.name.text); at < 0 {
				return nil, a.name.unknown("parameter of "+def.name, def.parameterNames())
			}
			if given[at].line != 0 {
				return nil, a.name.wrong("given twice")
			}
		}
		given[at] = a.value
		v, err := def.parameters[at].read(a)
		if err != nil {
			return nil, a.value.wrong("%v", err)
		}
		s.values[at] = v
	}
	for i := range def.parameters {
		p := &def.parameters[i]
		if given[i].line != 0 {
			continue
		}
		if p.initial == "" {
			return nil, c.name.wrong("%s is missing: want %s", p.name, p.allowed())
		}
		given[i] = c.name
		s.values[i] = p.fallback()
	}
	return given, nil
}

// read reads an argument, which may be a list.
func (p *parameter) read(a argument) (value, error) {
	if a.list == nil {
		return p.parse(a.value.text)
	}
	texts := make([]string, len(a.list))
	for i, w := range a.list {
		texts[i] = w.text
	}
	text, ok := p.join(texts)
	if !ok {
		return value{}, p.refusal()
	}
	return p.parse(text)
}

// fallback returns the default.
func (p *parameter) fallback() value {
	v, err := p.parse(p.initial)
	if err != nil {
		panic("augment: the default is not a value: " + err.Error())
	}
	return v
}

func writeOperations(b *strings.Builder, operations []*operation) {
	for i, o := range operations {
		if i > 0 {
			b.WriteByte('|')
		}
		o.write(b)
	}
}

// write names a parameter only after one that was left out.
func (o *operation) write(b *strings.Builder) {
	b.WriteString(o.settings.of.name)
	left, written := false, false
	for i, v := range o.settings.values {
		p := &o.settings.of.parameters[i]
		if p.initial != "" && v == p.fallback() {
			left = true
			continue
		}
		if written {
			b.WriteByte(',')
		} else {
			b.WriteByte(':')
		}
		if written = true; left {
			b.WriteString(p.name + "=")
		}
		b.WriteString(p.format(v))
	}
	if o.settings.of.group {
		b.WriteByte('(')
		writeOperations(b, o.operations)
		b.WriteByte(')')
	}
}
