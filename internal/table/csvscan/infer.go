package csvscan

import "unicode/utf8"

// inferrer infers the contents of columns from some of the chunks of a table, in their order.
// Several inferrers can be merged, with the same result however the chunks were divided between
// them.
type inferrer struct {
	missing *Missing
	columns []columnState
	chunk   int  // the chunk that the rows are of
	foreign bool // it has bytes that are not UTF-8
}

// columnState is a Column before its places are known as lines of the file.
type columnState struct {
	Column
	texts, lossy, rounded, foreign rowPosition // of the first ones
}

// rowPosition is where a row begins: a line of a chunk, both from 0.
type rowPosition struct {
	chunk int
	line  int64
}

func (p rowPosition) before(q rowPosition) bool {
	return p.chunk < q.chunk || p.chunk == q.chunk && p.line < q.line
}

func newInferrer(columns int, missing *Missing) *inferrer {
	return &inferrer{missing: missing, columns: make([]columnState, columns)}
}

// begin begins with a chunk, by its number and its bytes.
func (f *inferrer) begin(chunk int, data []byte) {
	f.chunk, f.foreign = chunk, !utf8.Valid(data)
}

// row takes in a row that isn't bad, of a Tokenizer that counts lines from 0
// at the start of the chunk.
func (f *inferrer) row(t *Tokenizer) {
	for i := range f.columns {
		c := &f.columns[i]
		field := t.Field(i)
		if f.missing.Is(field) {
			c.Missing++
			continue
		}
		k := classify(field)
		if !c.Rounded && k != classText && isRounded(field, k) {
			c.Rounded, c.rounded, c.FirstRounded.Text = true, rowPosition{f.chunk, t.Line()}, start(field)
		}
		switch k {
		case classInt:
			c.Ints++
		case classFloat:
			c.Floats++
		case classWideFloat:
			c.Floats++
			if losesFloat32(field) {
				f.note(&c.Lossy, &c.lossy, &c.FirstLossy, t.Line(), field)
			}
		default:
			if k == classText {
				bare := trimBlanks(field)
				if len(bare) < len(field) && f.missing.Is(bare) {
					c.Padded++
					continue
				}
				if f.foreign && !utf8.Valid(field) {
					f.note(&c.Foreign, &c.foreign, &c.FirstForeign, t.Line(), field)
				}
				c.Words = c.Words || !isBool(bare)
			} else {
				c.Words = true
				if losesFloat32(field) {
					f.note(&c.Lossy, &c.lossy, &c.FirstLossy, t.Line(), field)
				}
			}
			if f.note(&c.Texts, &c.texts, &c.FirstText, t.Line(), field) {
				c.Reason = reasons[k]
			}
		}
	}
}

// reasons are the reasons why numbers are kept as text.
var reasons = map[class]string{
	classLeadingZero: "leading zeros",
	classPlus:        "a plus sign",
	classHuge:        "more digits than int64 holds",
}

// note counts a value, keeps it if it is the first one, and reports whether it is.
func (f *inferrer) note(count *int64, first *rowPosition, value *Value, line int64, field []byte) bool {
	*count++
	if *count > 1 {
		return false
	}
	*first = rowPosition{f.chunk, line}
	value.Text = start(field)
	return true
}

// start is the text of a Value.
func start(field []byte) string { return string(field[:min(len(field), 40)]) }

// merge adds what another inferrer saw of the same table, and uses that up.
func (f *inferrer) merge(other *inferrer) {
	for i := range f.columns {
		c, o := &f.columns[i], &other.columns[i]
		if c.Texts > 0 && (o.Texts == 0 || c.texts.before(o.texts)) {
			o.texts, o.FirstText, o.Reason = c.texts, c.FirstText, c.Reason
		}
		if c.Lossy > 0 && (o.Lossy == 0 || c.lossy.before(o.lossy)) {
			o.lossy, o.FirstLossy = c.lossy, c.FirstLossy
		}
		if c.Foreign > 0 && (o.Foreign == 0 || c.foreign.before(o.foreign)) {
			o.foreign, o.FirstForeign = c.foreign, c.FirstForeign
		}
		if c.Rounded && (!o.Rounded || c.rounded.before(o.rounded)) {
			o.rounded, o.FirstRounded = c.rounded, c.FirstRounded
		}
		o.Column.Merge(&c.Column)
		*c = *o
	}
}

// result returns the columns with their places as lines of the file.
func (f *inferrer) result(name string, chunks []Chunk) []Column {
	columns := make([]Column, len(f.columns))
	for i := range f.columns {
		c := &f.columns[i]
		if c.Texts > 0 {
			c.FirstText.File, c.FirstText.Line = name, chunks[c.texts.chunk].FirstLine+c.texts.line
		}
		if c.Lossy > 0 {
			c.FirstLossy.File, c.FirstLossy.Line = name, chunks[c.lossy.chunk].FirstLine+c.lossy.line
		}
		if c.Foreign > 0 {
			c.FirstForeign.File, c.FirstForeign.Line = name, chunks[c.foreign.chunk].FirstLine+c.foreign.line
		}
		if c.Rounded {
			c.FirstRounded.File, c.FirstRounded.Line = name, chunks[c.rounded.chunk].FirstLine+c.rounded.line
		}
		columns[i] = c.Column
	}
	return columns
}
