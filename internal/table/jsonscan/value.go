package jsonscan

import "math"

// More reports whether a list or an object, of which n elements were read after its bracket, has
// another one, and moves to that. The last call moves past the closing bracket, which is end.
func (c *Cursor) More(n int, end byte) (more bool, fault string) {
	switch next := c.Peek(); {
	case next == end:
		c.At++
		return false, ""
	case n == 0:
		return true, ""
	case next == ',':
		c.At++
		return true, ""
	}
	return false, c.Unexpected("a comma or " + string(end))
}

// Name reads the name of a member and the colon after it. The result is valid until the next call.
func (c *Cursor) Name() (name []byte, fault string) {
	if c.Peek() != '"' {
		return nil, c.Unexpected("a name in quotes")
	}
	if name, fault = c.Text(); fault != "" {
		return nil, fault
	}
	if c.Peek() != ':' {
		return nil, c.Unexpected("a colon")
	}
	c.At++
	return name, ""
}

// NonFinite reads NaN, Infinity or -Infinity, which JSON does not have and Python writes.
func (c *Cursor) NonFinite() (v float64, ok bool) {
	switch {
	case c.Word("NaN"):
		return math.NaN(), true
	case c.Word("Infinity"):
		return math.Inf(1), true
	case c.Word("-Infinity"):
		return math.Inf(-1), true
	}
	return 0, false
}

// Skip reads any value, in which lists and objects are nested up to depth deep. NonFinite is one.
func (c *Cursor) Skip(depth int) (fault string) {
	switch next := c.Peek(); next {
	case '"':
		_, fault = c.Text()
		return fault
	case '[', '{':
		if depth == 0 {
			return "lists and objects are nested too deep"
		}
		c.At++
		end := next + 2 // in ASCII
		for n := 0; ; n++ {
			more, fault := c.More(n, end)
			if !more || fault != "" {
				return fault
			}
			if next == '{' {
				if _, fault := c.Name(); fault != "" {
					return fault
				}
			}
			if fault := c.Skip(depth - 1); fault != "" {
				return fault
			}
		}
	}
	if _, _, ok := c.Number(); ok || c.Word("true") || c.Word("false") || c.Word("null") {
		return ""
	}
	if _, ok := c.NonFinite(); ok {
		return ""
	}
	return c.Unexpected("a value")
}
