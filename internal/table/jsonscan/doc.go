// Package jsonscan reads the tokens of JSON texts in memory, strictly and without allocation.
//
//	c := jsonscan.Cursor{Data: line}
//	if c.Peek() == '"' {
//		name, fault := c.Text() // a fault is why the text is not JSON
//	}
//
// What it reads is up to the caller, who looks at the next byte and calls the method for it.
package jsonscan
