package augment

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// value is a parameter's value. Its kind determines the fields that are set.
type value struct {
	x, y  span // a number is x.lo; a pair x.lo and y.lo
	color [3]uint8
	word  string // or a list, as formatList writes it
}

// parse reads a value. Errors name the allowed values, not the position.
func (p *parameter) parse(text string) (v value, err error) {
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
		if near := nearest(text, p.words); near != "" {
			return v, fmt.Errorf("unknown %s; did you mean %s?", p.name, near)
		}
		err = p.refusal()
	}
	return v, err
}

// format writes a value so that parse reads the same one.
func (p *parameter) format(v value) string {
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

func (p *parameter) formatSpan(s span) string {
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
func (p *parameter) number(text string) (float64, error) {
	if text == "" || numberLength(text) != len(text) {
		return 0, p.refusal()
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || p.integer && x != math.Trunc(x) || p.odd && math.Mod(x, 2) != 1 {
		return 0, p.refusal()
	}
	return x + 0, p.check(x) // -0 becomes 0
}

func (p *parameter) check(x float64) error {
	if x >= p.min && x <= p.max {
		return nil
	}
	return p.refusal()
}

// span reads lo..hi, lo-hi or a single number.
func (p *parameter) span(text string) (span, error) {
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
		return s, p.refusal()
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
		return s, fmt.Errorf("%s begins above its end", p.name)
	}
	if err := p.check(s.lo); err != nil {
		return s, err
	}
	return s, p.check(s.hi)
}

// list reads numbers with / between them.
func (p *parameter) list(text string) ([]float64, error) {
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
func (p *parameter) size(text string) (v value, err error) {
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
	if err == nil && v.x.lo*v.y.lo > maxPixels {
		err = fmt.Errorf("%s: more than %d pixels", p.name, maxPixels)
	}
	return v, err
}

// colorOf reads a gray level, six hexadecimal digits or three levels.
func (p *parameter) colorOf(text string) (c [3]uint8, err error) {
	if digits := strings.TrimPrefix(text, "#"); len(digits) == 6 {
		if b, err := hex.DecodeString(digits); err == nil {
			return [3]uint8(b), nil
		}
	}
	levels := strings.Split(text, "/")
	if len(levels) != 1 && len(levels) != 3 {
		return c, p.refusal()
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

// join writes the elements of a YAML list as text.
func (p *parameter) join(list []string) (string, bool) {
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

// refusal returns the error that names the allowed values.
func (p *parameter) refusal() error { return fmt.Errorf("%s: want %s", p.name, p.allowed()) }

// allowed describes the allowed values.
func (p *parameter) allowed() string {
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
