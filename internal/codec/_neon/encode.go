package neon

import (
	"fmt"
	"strconv"
	"strings"
)

// form is a class of instructions, which have their fields at the same places.
type form int

const (
	same      form = iota // three registers of the same arrangement
	logical               // same, whose size is part of the operation
	different             // wide = narrow op narrow, wide = wide op narrow, or narrow = wide op wide
	misc                  // two registers; size of the destination where it is the narrower one
	compare               // misc against #0
	convert               // misc, whose size is part of the operation
	shiftLeft             // immediate, at the same size or longer
	shift                 // immediate, to the right, at the same size or narrower
	permute               // ZIP, UZP, TRN
)

// operation is one instruction: its class, the bits U and opcode, and the size of a logical one.
type operation struct {
	form         form
	u, opcode, s uint32
}

var operations = map[string]operation{
	"add": {same, 0, 0b10000, 0}, "sub": {same, 1, 0b10000, 0}, "mul": {same, 0, 0b10011, 0},
	"mla": {same, 0, 0b10010, 0}, "addp": {same, 0, 0b10111, 0}, "urhadd": {same, 1, 0b00010, 0},
	"sqadd": {same, 0, 0b00001, 0}, "cmtst": {same, 0, 0b10001, 0},
	"and": {logical, 0, 0b00011, 0}, "orr": {logical, 0, 0b00011, 2}, "eor": {logical, 1, 0b00011, 0},

	"fadd": {logical, 0, 0b11010, 0}, "fmul": {logical, 1, 0b11011, 0}, // of 32 bits
	"scvtf": {convert, 0, 0b11101, 0}, "fcvtzs": {convert, 0, 0b11011, 2},

	"uaddl": {different, 1, 0b0000, 0}, "uaddw": {different, 1, 0b0001, 0}, "usubl": {different, 1, 0b0010, 0},
	"addhn": {different, 0, 0b0100, 0}, "subhn": {different, 0, 0b0110, 0},
	"smlal": {different, 0, 0b1000, 0}, "umlal": {different, 1, 0b1000, 0},
	"smlsl": {different, 0, 0b1010, 0}, "umlsl": {different, 1, 0b1010, 0},
	"smull": {different, 0, 0b1100, 0}, "umull": {different, 1, 0b1100, 0},

	"xtn": {misc, 0, 0b10010, 0}, "sqxtn": {misc, 0, 0b10100, 0}, "sqxtun": {misc, 1, 0b10010, 0},
	"uqxtn": {misc, 1, 0b10100, 0}, "abs": {misc, 0, 0b01011, 0}, "neg": {misc, 1, 0b01011, 0},
	"uaddlp": {misc, 1, 0b00010, 0}, "uadalp": {misc, 1, 0b00110, 0},
	"cmlt": {compare, 0, 0b01010, 0}, "cmeq": {compare, 0, 0b01001, 0},

	"shl": {shiftLeft, 0, 0b01010, 0}, "sshll": {shiftLeft, 0, 0b10100, 0}, "ushll": {shiftLeft, 1, 0b10100, 0},
	"sshr": {shift, 0, 0b00000, 0}, "ushr": {shift, 1, 0b00000, 0}, "shrn": {shift, 0, 0b10000, 0},
	"rshrn": {shift, 0, 0b10001, 0}, "sqshrn": {shift, 0, 0b10010, 0}, "sqrshrn": {shift, 0, 0b10011, 0},
	"sqshrun": {shift, 1, 0b10000, 0}, "uqshrn": {shift, 1, 0b10010, 0}, "srshr": {shift, 0, 0b00100, 0},

	"uzp1": {permute, 0, 0b001, 0}, "trn1": {permute, 0, 0b010, 0}, "zip1": {permute, 0, 0b011, 0},
	"uzp2": {permute, 0, 0b101, 0}, "trn2": {permute, 0, 0b110, 0}, "zip2": {permute, 0, 0b111, 0},
}

// byElement are the operations whose last operand may be one element of a register.
var byElement = map[string]operation{
	"mla": {same, 1, 0b0000, 0}, "mls": {same, 1, 0b0100, 0}, "mul": {same, 0, 0b1000, 0},
	"smlal": {different, 0, 0b0010, 0}, "umlal": {different, 1, 0b0010, 0},
	"smlsl": {different, 0, 0b0110, 0}, "umlsl": {different, 1, 0b0110, 0},
	"smull": {different, 0, 0b1010, 0}, "umull": {different, 1, 0b1010, 0},
}

// Encode gives the word of an instruction, written as in ARM's manual: "smlal2 v0.4s, v1.8h,
// v2.h[3]". It panics on what it does not know.
func Encode(text string) uint32 {
	name, rest, _ := strings.Cut(text, " ")
	args := operands(rest)
	if word, ok := special(name, args); ok {
		return word
	}
	// The second half of a register, which Q says.
	base, second := name, uint32(0)
	if operations[name].opcode == 0 && strings.HasSuffix(name, "2") {
		base, second = strings.TrimSuffix(name, "2"), 1
	}
	d, n := vector(args[0]), vector(args[1])
	if len(args) == 3 && strings.Contains(args[2], "[") {
		return element(text, base, second, d, n, args[2])
	}
	o, ok := operations[base]
	if !ok {
		panic("unknown instruction: " + text)
	}
	registers := n.number<<5 | d.number
	switch o.form {
	case same, logical:
		m := vector(args[2])
		must(text, d.arrangement == n.arrangement && n.arrangement == m.arrangement)
		size := d.size
		if o.form == logical {
			size = o.s
		}
		return 0x0E200400 | d.q<<30 | o.u<<29 | size<<22 | m.number<<16 | o.opcode<<11 | registers
	case different:
		m := vector(args[2])
		narrow := m
		if o.opcode == 0b0100 || o.opcode == 0b0110 {
			narrow = d
		}
		must(text, narrow.q == second)
		return 0x0E200000 | second<<30 | o.u<<29 | narrow.size<<22 | m.number<<16 | o.opcode<<12 | registers
	case convert:
		must(text, d.arrangement == "4s" && n.arrangement == "4s")
		return 0x4E200800 | o.u<<29 | o.s<<22 | o.opcode<<12 | registers
	case misc, compare:
		size, q := min(d.size, n.size), d.q
		if d.size < n.size {
			must(text, q == second)
		} else if d.size > n.size {
			q = n.q // pairwise
		}
		return 0x0E200800 | q<<30 | o.u<<29 | size<<22 | o.opcode<<12 | registers
	case shiftLeft:
		q := n.q
		return 0x0F000400 | q<<30 | o.u<<29 | (8<<n.size+immediate(args[2]))<<16 | o.opcode<<11 | registers
	case shift:
		return 0x0F000400 | d.q<<30 | o.u<<29 | (16<<d.size-immediate(args[2]))<<16 | o.opcode<<11 | registers
	}
	m := vector(args[2])
	return 0x0E000800 | d.q<<30 | d.size<<22 | m.number<<16 | o.opcode<<12 | registers
}

// element encodes an operation by one element of a register.
func element(text, name string, second uint32, d, n register, by string) uint32 {
	o, ok := byElement[name]
	if !ok {
		panic("unknown instruction: " + text)
	}
	m, index := lane(by)
	q, size := d.q, d.size
	if o.form == different {
		q, size = second, n.size
		must(text, n.q == second && d.size == n.size+1)
	}
	must(text, m.size == size && (size == 1 && m.number < 16 || size == 2))
	high, low, third := index>>1, index&1, m.number>>4 // H, L and M, which is part of the register
	if size == 1 {
		high, low, third = index>>2, index>>1&1, index&1
	}
	return 0x0F000000 | q<<30 | o.u<<29 | size<<22 | low<<21 | third<<20 | m.number&15<<16 | o.opcode<<12 | high<<11 | n.number<<5 | d.number
}

// special encodes loads and stores, and what moves elements.
func special(name string, args []string) (word uint32, ok bool) {
	switch name {
	case "ldr", "str":
		return access(name == "ldr", args), true
	case "ld1", "ld2", "ld3", "ld4", "st1", "st2", "st3", "st4", "ld1r":
		return structures(name, args), true
	case "tbl", "tbx":
		d, m := vector(args[0]), vector(args[2])
		first, count := list(args[1])
		op := uint32(0)
		if name == "tbx" {
			op = 1
		}
		return 0x0E000000 | d.q<<30 | m.number<<16 | (count-1)<<13 | op<<12 | first.number<<5 | d.number, true
	case "ext":
		d, n, m := vector(args[0]), vector(args[1]), vector(args[2])
		return 0x2E000000 | d.q<<30 | m.number<<16 | immediate(args[3])<<11 | n.number<<5 | d.number, true
	case "dup":
		d := vector(args[0])
		if strings.Contains(args[1], "[") {
			n, index := lane(args[1])
			return 0x0E000400 | d.q<<30 | (index<<1|1)<<d.size<<16 | n.number<<5 | d.number, true
		}
		return 0x0E000C00 | d.q<<30 | 1<<d.size<<16 | general(args[1])<<5 | d.number, true
	case "mov":
		d, n := vector(args[0]), vector(args[1])
		return 0x0EA01C00 | d.q<<30 | n.number<<16 | n.number<<5 | d.number, true
	}
	return 0, false
}

// access is LDR and STR of one register, at an offset or indexed by a register.
func access(load bool, args []string) uint32 {
	size := uint32(strings.IndexByte("bhsdq", args[0][0]))
	t := number(args[0][1:])
	word := size&3<<30 | size>>2<<23 | t
	if load {
		word |= 1 << 22
	}
	base, offset, _ := strings.Cut(strings.Trim(args[1], "[]"), ", ")
	word |= general(base) << 5
	if strings.HasPrefix(offset, "x") {
		return word | 0x3C206800 | general(offset)<<16
	}
	at := uint32(0)
	if offset != "" {
		at = immediate(offset)
	}
	must(fmt.Sprint(args), at%(1<<size) == 0 && len(args) == 2)
	return word | 0x3D000000 | at>>size<<10
}

// structures is LD1 to LD4, ST1 to ST4, of whole registers or one element, and LD1R.
func structures(name string, args []string) uint32 {
	base := general(strings.Trim(args[1], "[]"))
	word := base << 5
	if name[0] == 'l' {
		word |= 1 << 22
	}
	post := len(args) == 3
	if post {
		word |= 1<<23 | 31<<16
	}
	braces, index, single := strings.Cut(args[0], "}[")
	if single {
		first, _ := list(braces + "}")
		i := number(strings.TrimSuffix(index, "]"))
		must(name, name[2:] == "1" && !post)
		switch first.size {
		case 3:
			return word | 0x0D008400 | i<<30 | first.number
		case 2:
			return word | 0x0D008000 | i>>1<<30 | i&1<<12 | first.number
		default:
			must(name, first.size == 1)
			return word | 0x0D004000 | i>>2<<30 | i>>1&1<<12 | i&1<<11 | first.number
		}
	}
	first, count := list(args[0])
	word |= first.q<<30 | first.size<<10 | first.number
	bytes := count * 8 << first.q
	if name == "ld1r" {
		word, bytes = word|0x0D40C000, 1<<first.size
	} else {
		opcode := map[string]uint32{"2": 0b1000, "3": 0b0100, "4": 0b0000}[name[2:]]
		if name[2:] == "1" {
			opcode = [...]uint32{1: 0b0111, 2: 0b1010, 3: 0b0110, 4: 0b0010}[count]
		}
		word |= 0x0C000000 | opcode<<12
	}
	must(name, !post || immediate(args[2]) == bytes)
	return word
}

// register is a vector register with an arrangement.
type register struct {
	number      uint32
	arrangement string
	size, q     uint32 // the logarithm of the bytes of an element; whether all 16 bytes are used
}

// vector parses v3.8h.
func vector(text string) register {
	name, arrangement, ok := strings.Cut(text, ".")
	if !ok || name[0] != 'v' {
		panic("not a vector: " + text)
	}
	size := uint32(strings.IndexByte("bhsd", arrangement[len(arrangement)-1]))
	q := uint32(0)
	if n := arrangement[:len(arrangement)-1]; n != "" && number(n)<<size == 16 {
		q = 1
	}
	return register{number(name[1:]), arrangement, size, q}
}

// lane parses v3.h[2].
func lane(text string) (register, uint32) {
	name, index, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	return vector(name), number(index)
}

// list parses {v3.8h, v4.8h}.
func list(text string) (first register, count uint32) {
	all := strings.Split(strings.Trim(text, "{}"), ", ")
	first = vector(all[0])
	for i, t := range all {
		must(text, vector(t).number == (first.number+uint32(i))%32)
	}
	return first, uint32(len(all))
}

func immediate(text string) uint32 { return number(strings.TrimPrefix(text, "#")) }

// general parses x3 or w3.
func general(text string) uint32 {
	must(text, text[0] == 'x' || text[0] == 'w')
	return number(text[1:])
}

func number(text string) uint32 {
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		panic(err)
	}
	return uint32(v)
}

// operands splits at the commas outside of braces and brackets.
func operands(text string) (args []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case strings.ContainsRune("{[", c):
			depth++
		case strings.ContainsRune("}]", c):
			depth--
		case c == ',' && depth == 0:
			args = append(args, text[from:i])
			from = i + 2
		}
	}
	return append(args, text[from:])
}

func must(text string, ok bool) {
	if !ok {
		panic("these operands do not fit: " + text)
	}
}
