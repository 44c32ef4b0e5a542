package labelmap

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
)

// Limits of a label map.
const (
	maxClasses = 1 << 20
	maxName    = 4096 // bytes
	maxDepth   = 64   // of messages
)

// Parse returns the classes of a label map, in its order. A class without a name has its display
// name; one without either is an error, as are two with one id. Other fields are ignored. Errors
// have the number of a line.
func Parse(data []byte) ([]annotation.Class, error) {
	p := &parser{scanner: scanner{data: data}}
	if err := p.run(); err != nil {
		at := min(p.from, len(data))
		line := 1
		for _, c := range data[:at] {
			if c == '\n' {
				line++
			}
		}
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	return p.classes, nil
}

// parser parses a label map.
type parser struct {
	scanner
	classes []annotation.Class
	ids     map[int64]bool
}

func (p *parser) run() error {
	p.ids = map[int64]bool{}
	p.next()
	for p.kind != atEnd {
		name, err := p.fieldName()
		if err != nil {
			return err
		}
		if name != "item" {
			err = p.skipField(0)
		} else {
			err = p.eachMessage(p.item)
		}
		if err != nil {
			return err
		}
		p.separator()
	}
	return nil
}

// eachMessage reads the value of a field of messages: one, or a list of them. The function reads
// one after its brace, until the bracket it is given.
func (p *parser) eachMessage(read func(end byte) error) error {
	p.symbol(':')
	if !p.symbol('[') {
		end, err := p.open()
		if err != nil {
			return err
		}
		return read(end)
	}
	for n := 0; !p.symbol(']'); n++ {
		if n > 0 && !p.symbol(',') {
			return p.unexpected("a comma or ]")
		}
		end, err := p.open()
		if err != nil {
			return err
		}
		if err := read(end); err != nil {
			return err
		}
	}
	return nil
}

// open reads the bracket that begins a message, and returns the one that ends it.
func (p *parser) open() (end byte, err error) {
	switch {
	case p.symbol('{'):
		return '}', nil
	case p.symbol('<'):
		return '>', nil
	}
	return 0, p.unexpected("{")
}

// item reads a class.
func (p *parser) item(end byte) error {
	var c annotation.Class
	var display string
	hasID, hasName := false, false
	for !p.symbol(end) {
		name, err := p.fieldName()
		if err != nil {
			return err
		}
		switch name {
		case "id":
			hasID = true
			c.ID, err = p.integer()
		case "name":
			hasName = true
			c.Name, err = p.text()
		case "display_name":
			display, err = p.text()
		default:
			err = p.skipField(1)
		}
		if err != nil {
			return err
		}
		p.separator()
	}
	if !hasName {
		c.Name = display
	}
	switch {
	case !hasID:
		return errors.New("an item without id")
	case c.Name == "":
		return fmt.Errorf("item %d has neither name nor display_name", c.ID)
	case p.ids[c.ID]:
		return fmt.Errorf("two items with id %d", c.ID)
	case len(p.classes) == maxClasses:
		return fmt.Errorf("more than %d items", maxClasses)
	}
	p.ids[c.ID] = true
	p.classes = append(p.classes, c)
	return nil
}

// fieldName reads the name of a field: a word, or the name of an extension.
func (p *parser) fieldName() (string, error) {
	if p.kind == isWord {
		name := string(p.token)
		p.next()
		return name, nil
	}
	if !p.symbol('[') {
		return "", p.unexpected("the name of a field")
	}
	for !p.symbol(']') {
		if p.kind == atEnd || p.kind == isBad || p.kind == isText {
			return "", p.unexpected("the name of an extension")
		}
		p.next()
	}
	return "[]", nil
}

// separator skips what may be between fields.
func (p *parser) separator() {
	if !p.symbol(',') {
		p.symbol(';')
	}
}

// integer reads the value of a field of type int32.
func (p *parser) integer() (int64, error) {
	if !p.symbol(':') {
		return 0, p.unexpected("a colon")
	}
	sign := ""
	if p.symbol('-') {
		sign = "-"
	}
	if p.kind != isNumber {
		return 0, p.unexpected("an integer")
	}
	base, digits := 10, string(p.token)
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		base, digits = 16, rest
	} else if len(digits) > 1 && digits[0] == '0' {
		base = 8
	}
	v, err := strconv.ParseInt(sign+digits, base, 64)
	if err != nil {
		return 0, p.unexpected("an integer of 64 bits")
	}
	p.next()
	return v, nil
}

// text reads the value of a field of type string: one string, or several in a row.
func (p *parser) text() (string, error) {
	if !p.symbol(':') {
		return "", p.unexpected("a colon")
	}
	if p.kind != isText {
		return "", p.unexpected("a string in quotes")
	}
	text, err := p.strings()
	if len(text) > maxName {
		return "", fmt.Errorf("a name of %d bytes, more than %d", len(text), maxName)
	}
	return string(text), err
}

// strings reads strings in a row, which are one.
func (p *parser) strings() (text []byte, err error) {
	for p.kind == isText && err == nil {
		if text, err = appendUnescaped(text, p.token[1:len(p.token)-1]); err == nil {
			p.next()
		}
	}
	return text, err
}

// skipField skips the value of a field of any type.
func (p *parser) skipField(depth int) error {
	colon := p.symbol(':')
	if p.symbol('[') {
		for n := 0; !p.symbol(']'); n++ {
			if n > 0 && !p.symbol(',') {
				return p.unexpected("a comma or ]")
			}
			if err := p.skipValue(depth, colon); err != nil {
				return err
			}
		}
		return nil
	}
	return p.skipValue(depth, colon)
}

// skipValue skips a scalar, where they are allowed, or a message.
func (p *parser) skipValue(depth int, scalars bool) error {
	if end, err := p.open(); err == nil {
		if depth == maxDepth {
			return fmt.Errorf("messages are nested more than %d deep", maxDepth)
		}
		for !p.symbol(end) {
			if _, err := p.fieldName(); err != nil {
				return err
			}
			if err := p.skipField(depth + 1); err != nil {
				return err
			}
			p.separator()
		}
		return nil
	}
	if !scalars {
		return p.unexpected("a colon or {")
	}
	if p.kind == isText {
		_, err := p.strings()
		return err
	}
	p.symbol('-')
	if p.kind != isNumber && p.kind != isWord {
		return p.unexpected("a value")
	}
	p.next()
	return nil
}

// unexpected returns an error that names the token and the text that is wanted instead.
func (p *parser) unexpected(want string) error {
	const shown = 40
	got := "the end of the file"
	if p.kind != atEnd {
		got = fmt.Sprintf("%q", p.token[:min(len(p.token), shown)])
	}
	return fmt.Errorf("%s, want %s", got, want)
}
