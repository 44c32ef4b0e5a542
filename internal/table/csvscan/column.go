package csvscan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// Kind is the kind of a column's feature.
type Kind uint8

// The kinds, as in a tf.train.Feature.
const (
	KindBytes Kind = iota
	KindInt64
	KindFloat
)

// String returns "bytes", "int64" or "float".
func (k Kind) String() string {
	switch k {
	case KindInt64:
		return "int64"
	case KindFloat:
		return "float"
	}
	return "bytes"
}

// Value is a field with the place where it stands.
type Value struct {
	File string `json:"file"`
	Line int64  `json:"line"` // of the start of its row, from 1
	Text string `json:"text"` // cut after 40 bytes
}

// Column counts the contents of a column, over the rows that aren't bad.
type Column struct {
	Ints    int64 `json:"ints"`    // integers that int64 holds
	Floats  int64 `json:"floats"`  // other numbers, NaN and infinities included
	Texts   int64 `json:"texts"`   // everything else, and numbers that are kept as text
	Missing int64 `json:"missing"` // values that Missing knows
	// Padded are values that Missing would know without the blanks around them. They are missing in a
	// column of numbers, and text in others.
	Padded  int64 `json:"padded"`
	Words   bool  `json:"words"`   // one of the Texts is none that ParseBool takes
	Foreign int64 `json:"foreign"` // of the Texts: those that are not UTF-8
	Lossy   int64 `json:"lossy"`   // numbers outside float32's range, also of those that are kept as text

	// The first value of the Texts, and why a number among them is one: "" when it
	// is none, or "leading zeros", "a plus sign" or "more than int64 holds".
	FirstText Value  `json:"first_text"`
	Reason    string `json:"reason"`
	// FirstLossy is the first value of the Lossy.
	FirstLossy Value `json:"first_lossy"`
	// FirstForeign is the first value of the Foreign.
	FirstForeign Value `json:"first_foreign"`
	// Rounded means that digits of a number get lost in float32, FirstRounded is the first such
	// number.
	Rounded      bool  `json:"rounded"`
	FirstRounded Value `json:"first_rounded"`
}

// Kind returns the kind of the column: int64 when all of its values are integers, float when all
// are numbers, and otherwise bytes. Missing values don't count; a column that has no others is
// bytes.
func (c *Column) Kind() Kind {
	switch {
	case c.Texts > 0 || c.Ints+c.Floats == 0:
		return KindBytes
	case c.Floats > 0:
		return KindFloat
	}
	return KindInt64
}

// Merge adds the counts of other, whose rows come after the rows of c.
func (c *Column) Merge(other *Column) {
	if c.Texts == 0 {
		c.FirstText, c.Reason = other.FirstText, other.Reason
	}
	if c.Lossy == 0 {
		c.FirstLossy = other.FirstLossy
	}
	if c.Foreign == 0 {
		c.FirstForeign = other.FirstForeign
	}
	if !c.Rounded {
		c.FirstRounded = other.FirstRounded
	}
	c.Ints += other.Ints
	c.Floats += other.Floats
	c.Texts += other.Texts
	c.Missing += other.Missing
	c.Lossy += other.Lossy
	c.Padded += other.Padded
	c.Words = c.Words || other.Words
	c.Foreign += other.Foreign
	c.Rounded = c.Rounded || other.Rounded
}

// String returns the position and the text of the value.
func (v Value) String() string { return fmt.Sprintf("%s line %d: %q", v.File, v.Line, v.Text) }

// KindNote describes surprises about the kind for the user, with the option that changes it. It is
// empty for a column without surprises.
func (c *Column) KindNote(name string) string {
	switch {
	case c.Ints+c.Floats+c.Texts+c.Padded == 0 && c.Missing > 0:
		return fmt.Sprintf("column %q: no value in %s: stored as bytes; %s %s gives another type", name, plural.Of(c.Missing, "row"), optname.CSVOptionsTypes, assign(name, "float"))
	case c.Texts > 0 && !c.Words && c.Floats == 0:
		return fmt.Sprintf("column %q: true and false are stored as they are written, as bytes; %s %s stores 1 and 0", name, optname.CSVOptionsTypes, assign(name, "int64"))
	case c.Texts > 0 && c.Ints+c.Floats > 0:
		reason := ""
		if c.Reason != "" {
			reason = ", a number with " + c.Reason
		}
		way := "makes rows whose values are not numbers errors"
		if reason != "" {
			way = "reads it as a number"
		}
		return fmt.Sprintf("column %q: not all of one kind (%s), so stored as bytes; the first that is not a plain number is at %v%s; %s %s %s",
			name, c.counts(), c.FirstText, reason, optname.CSVOptionsTypes, assign(name, "float"), way)
	case c.Texts > 0 && c.Reason != "":
		return fmt.Sprintf("column %q: numbers with %s stay as they are, as bytes; the first is at %v", name, c.Reason, c.FirstText)
	}
	return ""
}

// AccountForFloats adds the losses of the column with this name if it is stored as 32-bit floats.
// The option types and the text asBytes after the name, such as "=bytes", store its text unchanged.
func (c *Column) AccountForFloats(a *account.Account, name string, types optname.Name, asBytes string) {
	if c.Rounded {
		a.Add(account.Rounded, fmt.Sprintf("%s (the first at %v)", name, c.FirstRounded))
	}
	if c.Lossy > 0 {
		a.Add(account.Beyond, fmt.Sprintf("%s (%s, the first at %v; %s %s keeps them)", name, plural.Of(c.Lossy, "value"), c.FirstLossy, types, shellArg(name+asBytes)))
	}
}

// AccountForText adds the column, by its name, if it has text that is not UTF-8 and is stored as bytes.
func (c *Column) AccountForText(a *account.Account, name string) {
	if c.Foreign > 0 {
		a.Add(account.Encoding, fmt.Sprintf("%s (%s, the first at %v)", name, plural.Of(c.Foreign, "value"), c.FirstForeign))
	}
}

// counts lists the kinds of a mixed column.
func (c *Column) counts() string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{c.Ints, "int64"}, {c.Floats, "float"}, {c.Texts, "text"}} {
		if p.n > 0 {
			parts = append(parts, strconv.FormatInt(p.n, 10)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// assign spells NAME=KIND for a shell.
func assign(name, kind string) string { return shellArg(name + "=" + kind) }

// shellArg returns an argument of a command as a shell takes it.
func shellArg(arg string) string {
	if strings.ContainsAny(arg, " \t\n\"'\\$`!*?[](){}<>|&;#~") || arg[0] == '=' {
		return strconv.Quote(arg)
	}
	return arg
}
