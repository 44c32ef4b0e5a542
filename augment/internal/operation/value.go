package operation

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/spelling"
)

// kind is the syntax and the meaning of a parameter's value.
type kind uint8

const (
	kindNumber  kind = iota // 0.5
	kindSpan                // 0.3-1 or 0.3..1, or a number for just that
	kindAround0             // the same, but 15 is -15..15
	kindAround1             // the same, but 0.4 is 0.6..1.4, and never below 0
	kindShear               // one or two of kindAround0: 10, or 10/-5..5
	kindPair                // 0.1/0.2, or 0.1 for both
	kindSize                // 224x160, or 224 for both
	kindResize              // the same, but 224 is for the shorter side
	kindColor               // 128, or ff8000, or 255/128/0
	kindWord                // one of a list
	kindList                // numbers: 0/0.5/1
)

// span is a closed interval.
type span struct{ lo, hi float64 }

// Value is a parameter's value. Its kind determines the fields that are set.
type Value struct {
	x, y  span // a number is x.lo; a pair x.lo and y.lo
	color [3]uint8
	word  string // or a list, as formatList writes it
}

// Parse reads a value. Errors name the allowed values, not the position.
func (p *Parameter) Parse(text string) (v Value, err error) {
	if slices.Contains(p.words, text) {
		v.word = text
		return v, nil
	}
	switch p.kind {
	case kindNumber:
		v.x.lo, err = p.number(text)
		v.x.hi = v.x.lo
	case kindSpan, kindAround0, kindAround1:
		v.x, err = p.span(text)
	case kindShear:
		along, other, both := strings.Cut(text, "/")
		v.x, err = p.span(along)
		if both && err == nil {
			v.y, err = p.span(other)
		}
	case kindPair:
		first, second, both := strings.Cut(text, "/")
		v.x.lo, err = p.number(first)
		v.y = v.x
		if both && err == nil {
			v.y.lo, err = p.number(second)
		}
		v.x.hi, v.y.hi = v.x.lo, v.y.lo
	case kindSize, kindResize:
		v, err = p.size(text)
	case kindColor:
		v.color, err = p.colorOf(text)
	case kindList:
		var numbers []float64
		if numbers, err = p.list(text); err == nil {
			v.word = formatList(numbers)
		}
	case kindWord:
		if near := Closest(text, p.words); near != "" {
			return v, fmt.Errorf("unknown %s; did you mean %s?", p.Name, near)
		}
		err = p.Refusal()
	}
	return v, err
}

// Format writes a value so that parse reads the same one.
func (p *Parameter) Format(v Value) string {
	if v.word != "" {
		return v.word
	}
	switch p.kind {
	case kindShear:
		if v.y == (span{}) {
			return p.formatSpan(v.x)
		}
		return p.formatSpan(v.x) + "/" + p.formatSpan(v.y)
	case kindPair:
		if v.x == v.y {
			return formatNumber(v.x.lo)
		}
		return formatNumber(v.x.lo) + "/" + formatNumber(v.y.lo)
	case kindSize, kindResize:
		if v.x == v.y && p.kind == kindSize || v.y.lo == 0 {
			return formatNumber(v.x.lo)
		}
		return formatNumber(v.x.lo) + "x" + formatNumber(v.y.lo)
	case kindColor:
		if v.color[0] == v.color[1] && v.color[1] == v.color[2] {
			return strconv.Itoa(int(v.color[0]))
		}
		return hex.EncodeToString(v.color[:])
	}
	return p.formatSpan(v.x)
}

func (p *Parameter) formatSpan(s span) string {
	around := p.kind == kindAround0 || p.kind == kindShear
	switch {
	case around && s.lo == -s.hi:
		return formatNumber(s.hi)
	case !around && p.kind != kindAround1 && s.lo == s.hi:
		return formatNumber(s.lo)
	}
	return formatNumber(s.lo) + ".." + formatNumber(s.hi)
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// number reads a number and compares it with the limits.
func (p *Parameter) number(text string) (float64, error) {
	if text == "" || numberLength(text) != len(text) {
		return 0, p.Refusal()
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || p.integer && x != math.Trunc(x) || p.odd && math.Mod(x, 2) != 1 {
		return 0, p.Refusal()
	}
	return x + 0, p.check(x) // -0 becomes 0
}

func (p *Parameter) check(x float64) error {
	if x >= p.min && x <= p.max {
		return nil
	}
	return p.Refusal()
}

// span reads lo..hi, lo-hi or a single number.
func (p *Parameter) span(text string) (span, error) {
	lo, hi, both := strings.Cut(text, "..")
	if !both {
		if n := numberLength(text); n > 0 && n < len(text) && text[n] == '-' {
			lo, hi, both = text[:n], text[n+1:], true
		}
	}
	unbounded := *p
	if !both && p.kind != kindSpan {
		unbounded.min, unbounded.max = 0, math.MaxFloat64
	}
	var s span
	var err error
	if s.lo, err = unbounded.number(lo); err != nil {
		return s, p.Refusal()
	}
	if s.hi = s.lo; both {
		if s.hi, err = p.number(hi); err != nil {
			return s, err
		}
	} else if p.kind == kindAround1 {
		s = span{max(0, 1-s.lo), 1 + s.lo}
	} else if p.kind != kindSpan {
		s = span{0 - s.lo, s.lo}
	}
	if s.lo > s.hi {
		return s, fmt.Errorf("%s begins above its end", p.Name)
	}
	if err := p.check(s.lo); err != nil {
		return s, err
	}
	return s, p.check(s.hi)
}

// list reads numbers with / between them.
func (p *Parameter) list(text string) ([]float64, error) {
	var numbers []float64
	for word := range strings.SplitSeq(text, "/") {
		x, err := p.number(word)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, x)
	}
	return numbers, nil
}

func formatList(numbers []float64) string {
	words := make([]string, len(numbers))
	for i, x := range numbers {
		words[i] = formatNumber(x)
	}
	return strings.Join(words, "/")
}

// size reads WxH or N.
func (p *Parameter) size(text string) (v Value, err error) {
	w, h, both := strings.Cut(text, "x")
	if v.x.lo, err = p.number(w); err != nil {
		return v, err
	}
	if v.x.hi = v.x.lo; both {
		v.y.lo, err = p.number(h)
		v.y.hi = v.y.lo
	} else if p.kind == kindSize {
		v.y = v.x
	}
	if err == nil && v.x.lo*v.y.lo > bitmap.MaxPixels {
		err = fmt.Errorf("%s: more than %d pixels", p.Name, bitmap.MaxPixels)
	}
	return v, err
}

// colorOf reads a gray level, six hexadecimal digits or three levels.
func (p *Parameter) colorOf(text string) (c [3]uint8, err error) {
	if digits := strings.TrimPrefix(text, "#"); len(digits) == 6 {
		if b, err := hex.DecodeString(digits); err == nil {
			return [3]uint8(b), nil
		}
	}
	levels := strings.Split(text, "/")
	if len(levels) != 1 && len(levels) != 3 {
		return c, p.Refusal()
	}
	for i := range c {
		x, err := p.number(levels[i%len(levels)])
		if err != nil {
			return c, err
		}
		c[i] = uint8(x)
	}
	return c, nil
}

// Join writes the elements of a YAML list as text.
func (p *Parameter) Join(list []string) (string, bool) {
	switch {
	case p.kind == kindShear && len(list) == 4:
		return list[0] + ".." + list[1] + "/" + list[2] + ".." + list[3], true
	case p.kind == kindList, p.kind == kindColor && len(list) == 3:
		return strings.Join(list, "/"), true
	case len(list) != 2:
		return "", false
	}
	switch p.kind {
	case kindSpan, kindAround0, kindAround1, kindShear:
		return list[0] + ".." + list[1], true
	case kindPair:
		return list[0] + "/" + list[1], true
	}
	return "", false
}

// Refusal returns the error that names the allowed values.
func (p *Parameter) Refusal() error { return fmt.Errorf("%s: want %s", p.Name, p.Allowed()) }

// Allowed describes the allowed values.
func (p *Parameter) Allowed() string {
	number := "a number"
	switch {
	case p.odd:
		number = "an odd number"
	case p.integer:
		number = "a whole number"
	}
	limits := " of " + strconv.FormatFloat(p.min, 'f', -1, 64) + " to " + strconv.FormatFloat(p.max, 'f', -1, 64)
	var s string
	switch p.kind {
	case kindNumber:
		s = number + limits
	case kindSpan:
		s = number + " or range lo..hi" + limits
	case kindAround0:
		s = "a range lo..hi" + limits + ", or a number x for -x..x"
	case kindAround1:
		s = "a range lo..hi" + limits + ", or a number x for 1-x..1+x"
	case kindShear:
		s = "a range lo..hi" + limits + ", or a number x for -x..x; two of them with / between for x and y"
	case kindPair:
		s = number + limits + ", or two with / between for x and y"
	case kindList:
		s = number + limits + ", or several with / between"
	case kindSize:
		s = "WxH, or N for NxN, in pixels" + limits
	case kindResize:
		s = "WxH, or N for the shorter side, in pixels" + limits
	case kindColor:
		s = "a gray level of 0 to 255, or a colour as RRGGBB or R/G/B"
	}
	if s != "" && len(p.words) > 0 {
		s += ", or "
	}
	return s + strings.Join(p.words, ", ")
}

// numberLength returns the length of the decimal number at the beginning of s; 0 if there is none.
func numberLength(s string) int {
	n := 0
	digits := func() (some bool) {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
			some = true
		}
		return some
	}
	sign := func() {
		if n < len(s) && (s[n] == '-' || s[n] == '+') {
			n++
		}
	}
	sign()
	some := digits()
	if n < len(s) && s[n] == '.' {
		n++
		some = digits() || some
	}
	if !some {
		return 0
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		end := n
		n++
		sign()
		if !digits() {
			n = end
		}
	}
	return n
}

// Fallback returns the default.
func (p *Parameter) Fallback() Value {
	v, err := p.Parse(p.Initial)
	if err != nil {
		panic("augment: the default is not a value: " + err.Error())
	}
	return v
}

// Closest returns the name that the text was most likely meant to be, "" when
// none is near.
func Closest(text string, names []string) string {
	const longest = 40 // than any name by far
	if len(text) > longest {
		return ""
	}
	text = strings.ToLower(text)
	const part = 4 // enough letters to guess from
	best, least := "", max(1, len(text)/3)+1
	for _, name := range names {
		d := spelling.Distance(text, name)
		if len(text) >= part && (strings.Contains(name, text) || strings.HasPrefix(name, text[:max(part, len(text)-2)])) {
			d = 1
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}
