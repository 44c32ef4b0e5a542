package jsonl

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Limits of a row.
const (
	maxDepth   = 64       // objects within objects
	maxName    = 64 << 10 // bytes in the name of a column
	maxMembers = 1 << 16  // different names of members in a table
)

// suffixBase64 marks members whose strings are bytes in base64.
const suffixBase64 = ".base64"

// column is the parser's state of a column.
type column struct {
	name  string
	index int    // the result of sink.column
	row   uint64 // the last one that has it
}

// columnOf returns the name of the column that a member gives values to, and reports whether these
// are in base64.
func columnOf(path string) (name string, isBase64 bool) {
	name, isBase64 = strings.CutSuffix(path, suffixBase64)
	if name == "" {
		return path, false
	}
	return name, isBase64
}

// class is the spelling of a value.
type class uint8

const (
	classInt   class = iota // a number without point and exponent
	classFloat              // any other number
	classTrue
	classFalse
	classText
	classBytes // decoded from base64
)

// shape is the shape of a member.
type shape uint8

const (
	shapeNull shape = iota
	shapeScalar
	shapeList
)

// sink receives the values of a parser. Its methods return the reason why the row is bad, or "".
type sink interface {
	// column returns the index of a column; negative: its values are ignored.
	column(name string) int
	// begin is called before the column's values in the row: none for null, one for a scalar.
	begin(c *column, s shape) string
	// value adds a value. text is only valid during the call.
	value(c *column, k class, text []byte) string
}

// member is a place in the objects of a table: a name within the object above it.
type member struct {
	name   string // within its object
	path   string
	column *column // nil before it has a value
	base64 bool    // of its values, once it has one
	skip   bool    // whatever it holds
	row    uint64  // the last one that has it
	// Members of the object that it is: rows have much the same ones in the same order, so each
	// remembers which one came after it.
	members     map[string]*member
	first, next *member
}

// parser parses rows. It is not safe for concurrent use.
type parser struct {
	sink    sink
	root    member
	columns map[string]*column
	count   int  // of members
	full    bool // a row had more than maxMembers

	jsonscan.Cursor // in the line
	row             uint64
	decoded         []byte // of base64

	skip    func(name string) bool
	skipped map[string]struct{}
}

func newParser(s sink, skip func(name string) bool) *parser {
	return &parser{sink: s, columns: map[string]*column{}, skip: skip, skipped: map[string]struct{}{}}
}

// parse parses the row on a line. It returns why it is bad, or "". Names that only bad rows have do
// not count.
func (p *parser) parse(line []byte) (reason string) {
	members, columns := p.count, len(p.columns)
	reason = p.parseRow(line)
	if reason != "" && (p.count > members || len(p.columns) > columns) {
		p.root, p.columns, p.count = member{}, map[string]*column{}, 0 // good rows add them again
	}
	return reason
}

func (p *parser) parseRow(line []byte) (reason string) {
	p.Reset(line)
	p.row++
	if p.Peek() != '{' {
		return "not a JSON object"
	}
	p.At++
	if reason := p.object(&p.root, 1); reason != "" {
		return reason
	}
	if p.Peek(); p.At < len(p.Data) {
		return fmt.Sprintf("text after the object: %s", jsonscan.Quoted(p.Data[p.At:]))
	}
	return ""
}

// object parses an object after its brace.
func (p *parser) object(o *member, depth int) (reason string) {
	if p.Peek() == '}' {
		p.At++
		return ""
	}
	guess := &o.first
	for {
		if p.Peek() != '"' {
			return p.unexpected("a name in quotes")
		}
		name, reason := p.Text()
		if reason != "" {
			return reason
		}
		m := *guess
		if m == nil || m.name != string(name) {
			if m, reason = p.member(o, name); reason != "" {
				return reason
			}
			*guess = m
		}
		guess = &m.next
		if m.row == p.row {
			return fmt.Sprintf("%s occurs twice", jsonscan.Quoted([]byte(m.path)))
		}
		m.row = p.row
		if p.Peek() != ':' {
			return p.unexpected("a colon")
		}
		p.At++
		if reason := p.value(m, depth); reason != "" {
			return reason
		}
		switch p.Peek() {
		case ',':
			p.At++
		case '}':
			p.At++
			return ""
		default:
			return p.unexpected("a comma or }")
		}
	}
}

// member returns the member of an object with a name.
func (p *parser) member(o *member, name []byte) (*member, string) {
	if m := o.members[string(name)]; m != nil {
		return m, ""
	}
	m := &member{name: string(name)}
	m.path = m.name
	if o != &p.root {
		m.path = o.path + "/" + m.name
	}
	switch {
	case len(m.path) > maxName:
		return nil, fmt.Sprintf("a name of %d bytes, more than %d", len(m.path), maxName)
	case m.path == "":
		return nil, "a member without a name"
	case p.count == maxMembers:
		p.full = true
		return nil, fmt.Sprintf("%s: %s", jsonscan.Quoted(name), errNames)
	}
	if o.members == nil {
		o.members = map[string]*member{}
	}
	o.members[m.name] = m
	p.count++
	if column, _ := columnOf(m.path); p.skip != nil && p.skip(column) {
		m.skip = true
		p.skipped[column] = struct{}{}
	}
	return m, ""
}

// value parses the value of a member.
func (p *parser) value(m *member, depth int) (reason string) {
	if m.skip {
		return p.Skip(maxDepth - depth)
	}
	next := p.Peek()
	if next == '{' {
		if depth == maxDepth {
			return fmt.Sprintf("objects nested more than %d deep", maxDepth)
		}
		p.At++
		return p.object(m, depth+1)
	}
	c := m.column
	if c == nil {
		var name string
		name, m.base64 = columnOf(m.path)
		if c = p.columns[name]; c == nil {
			c = &column{name: name, index: p.sink.column(name)}
			p.columns[name] = c
		}
		m.column = c
	}
	if c.row == p.row {
		return fmt.Sprintf("%s occurs twice", jsonscan.Quoted([]byte(c.name)))
	}
	c.row = p.row
	s := shapeScalar
	switch {
	case next == '[':
		s = shapeList
	case next == 'n' && p.Word("null"):
		s = shapeNull
	}
	if c.index >= 0 {
		if reason := p.sink.begin(c, s); reason != "" {
			return reason
		}
	}
	switch s {
	case shapeNull:
		return ""
	case shapeList:
		p.At++
		return p.list(c, m.base64)
	}
	return p.scalar(c, m.base64, next)
}

// list parses a list after its bracket.
func (p *parser) list(c *column, isBase64 bool) (reason string) {
	if p.Peek() == ']' {
		p.At++
		return ""
	}
	for {
		next := p.Peek()
		switch next {
		case '[':
			return fmt.Sprintf("column %s: a list within a list", jsonscan.Quoted([]byte(c.name)))
		case '{':
			return fmt.Sprintf("column %s: an object within a list", jsonscan.Quoted([]byte(c.name)))
		case 'n':
			if p.Word("null") {
				return fmt.Sprintf("column %s: null within a list", jsonscan.Quoted([]byte(c.name)))
			}
		}
		if reason := p.scalar(c, isBase64, next); reason != "" {
			return reason
		}
		switch p.Peek() {
		case ',':
			p.At++
		case ']':
			p.At++
			return ""
		default:
			return p.unexpected("a comma or ]")
		}
	}
}

// scalar parses a string, number or boolean, which begins with next.
func (p *parser) scalar(c *column, isBase64 bool, next byte) (reason string) {
	var k class
	var text []byte
	switch {
	case next == '"':
		if text, reason = p.Text(); reason != "" {
			return reason
		}
		if k = classText; isBase64 {
			var err error
			if p.decoded, err = base64.StdEncoding.AppendDecode(p.decoded[:0], text); err != nil {
				return fmt.Sprintf("column %s: not base64", jsonscan.Quoted([]byte(c.name)))
			}
			k, text = classBytes, p.decoded
		}
	case next == 't' && p.Word("true"):
		k, text = classTrue, p.Data[p.At-len("true"):p.At]
	case next == 'f' && p.Word("false"):
		k, text = classFalse, p.Data[p.At-len("false"):p.At]
	default:
		var integer, ok bool
		if text, integer, ok = p.Number(); !ok {
			return p.unexpected("a value")
		}
		if k = classFloat; integer {
			k = classInt
		}
	}
	if isBase64 && k != classBytes {
		return fmt.Sprintf("column %s: not base64", jsonscan.Quoted([]byte(c.name)))
	}
	if c.index < 0 {
		return ""
	}
	return p.sink.value(c, k, text)
}

// unexpected describes the text found in place of the wanted text.
func (p *parser) unexpected(want string) string {
	if p.At >= len(p.Data) {
		return "the line ends within the object"
	}
	return p.Unexpected(want)
}
