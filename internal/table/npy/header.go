package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/table"
)

const magic = "\x93NUMPY"

// maxHeader is the longest header that is read, and maxElement the largest element, in bytes.
const (
	maxHeader  = 1 << 20
	maxElement = 1 << 28
)

// maxValues bounds the number of elements of an array, and of bytes, in a header.
const maxValues = math.MaxInt64 / 4

// header is the header of an array.
type header struct {
	code    byte // b, i, u, f, S or U of NumPy's types; i for times
	time    bool
	size    int  // of an element in bytes
	big     bool // the most significant byte is first
	fortran bool // the first axis varies fastest
	shape   []int64
	length  int64 // of the header itself in bytes
}

// rows is the length of the first axis.
func (h *header) rows() int64 { return h.shape[0] }

// width is the number of elements of a row.
func (h *header) width() int64 {
	w := int64(1)
	for _, n := range h.shape[1:] {
		w *= n
	}
	return w
}

// bytes is the size of all elements.
func (h *header) bytes() int64 { return h.rows() * h.width() * int64(h.size) }

// kind returns the kind of the column for the elements.
func (h *header) kind() table.Kind {
	switch h.code {
	case 'f':
		return table.Float
	case 'S', 'U':
		return table.Bytes
	}
	return table.Int64
}

// readHeader reads the header of an array, up to its elements.
func readHeader(r io.Reader) (*header, error) {
	fixed := make([]byte, len(magic)+2+4)
	if _, err := io.ReadFull(r, fixed[:10]); err != nil {
		return nil, tooShort(err)
	}
	if string(fixed[:len(magic)]) != magic {
		return nil, errors.New("not an array of NumPy")
	}
	n, start := int64(binary.LittleEndian.Uint16(fixed[8:])), int64(10)
	switch major := fixed[6]; major {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:12]); err != nil {
			return nil, tooShort(err)
		}
		n, start = int64(binary.LittleEndian.Uint32(fixed[8:])), 12
	default:
		return nil, fmt.Errorf("version %d of the .npy format: want 1, 2 or 3", major)
	}
	if n > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes: at most %d are read", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, tooShort(err)
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	h.length = start + n
	return h, nil
}

func tooShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the array ends within its header")
	}
	return err
}

// parseHeader parses the Python literal of a header.
func parseHeader(text string) (*header, error) {
	p := literal{text}
	h := &header{}
	seen := map[string]bool{}
	if !p.take("{") {
		return nil, p.bad()
	}
	for !p.take("}") {
		key, ok := p.text()
		if !ok || !p.take(":") || seen[key] {
			return nil, p.bad()
		}
		seen[key] = true
		switch key {
		case "descr":
			if strings.HasPrefix(p.rest(), "[") {
				return nil, errors.New("a structured array: save each of its fields as an array")
			}
			descr, ok := p.text()
			if !ok {
				return nil, p.bad()
			}
			if err := h.element(descr); err != nil {
				return nil, err
			}
		case "fortran_order":
			h.fortran = p.take("True")
			if !h.fortran && !p.take("False") {
				return nil, p.bad()
			}
		case "shape":
			if h.shape, ok = p.numbers(); !ok {
				return nil, p.bad()
			}
		default:
			return nil, fmt.Errorf("key %.100q", key)
		}
		if !p.take(",") && !strings.HasPrefix(p.rest(), "}") {
			return nil, p.bad()
		}
	}
	if p.rest() != "" || !seen["descr"] || !seen["fortran_order"] || !seen["shape"] {
		return nil, p.bad()
	}
	if len(h.shape) == 0 {
		return nil, errors.New("an array without axes: want the first one to be the records")
	}
	total := int64(max(h.size, 1))
	for _, n := range h.shape {
		// An axis of length 0 makes the array empty; the others must fit all the same.
		if n > maxValues/total {
			return nil, fmt.Errorf("an array of shape %v does not fit 64 bits", h.shape)
		}
		total *= max(n, 1)
	}
	return h, nil
}

// element parses a type such as <f4.
func (h *header) element(descr string) error {
	unsupported := fmt.Errorf("type %.100q: want booleans, integers, floats of 16 to 64 bits, times or fixed strings", descr)
	if strings.HasPrefix(descr, "|O") || descr == "O" {
		return errors.New("an array of Python objects, which is a pickle: save numbers or strings")
	}
	if len(descr) < 3 || !strings.ContainsRune("<>|=", rune(descr[0])) {
		return unsupported
	}
	h.big, h.code = descr[0] == '>', descr[1]
	digits, unit, _ := strings.Cut(descr[2:], "[")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > maxElement/4 || unit != "" && h.code != 'M' && h.code != 'm' {
		return unsupported
	}
	h.size = n
	sizes := []int{8}
	switch h.code {
	case 'b':
		sizes = []int{1}
	case 'i', 'u':
		sizes = []int{1, 2, 4, 8}
	case 'f':
		sizes = []int{2, 4, 8}
	case 'M', 'm':
		h.code, h.time = 'i', true
	case 'S':
		return nil
	case 'U':
		h.size = 4 * n
		return nil
	default:
		return unsupported
	}
	if !slices.Contains(sizes, n) {
		return unsupported
	}
	return nil
}

// literal is the rest of a Python literal.
type literal struct{ s string }

// rest returns what follows, without space before it.
func (p *literal) rest() string {
	p.s = strings.TrimLeft(p.s, " \t\r\n")
	return p.s
}

func (p *literal) take(token string) bool {
	rest, ok := strings.CutPrefix(p.rest(), token)
	if ok {
		p.s = rest
	}
	return ok
}

func (p *literal) bad() error { return fmt.Errorf("not as NumPy writes it, at %.50q", p.s) }

// text takes a string without escapes.
func (p *literal) text() (string, bool) {
	s := p.rest()
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", false
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 || strings.ContainsRune(s[1:1+end], '\\') {
		return "", false
	}
	p.s = s[end+2:]
	return s[1 : 1+end], true
}

// numbers takes a tuple of numbers.
func (p *literal) numbers() ([]int64, bool) {
	if !p.take("(") {
		return nil, false
	}
	list := []int64{}
	for !p.take(")") {
		s := p.rest()
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		v, err := strconv.ParseInt(s[:n], 10, 64)
		if err != nil || len(list) == 64 {
			return nil, false
		}
		list = append(list, v)
		p.s = s[n:]
		p.take("L") // of Python 2
		if !p.take(",") && !strings.HasPrefix(p.rest(), ")") {
			return nil, false
		}
	}
	return list, true
}
