package reader

// cursor is a place between two records of a file.
type cursor struct {
	number int64 // of the record that comes next
	offset int64 // where its frame begins, in the uncompressed stream
}

// piece is a stretch of a file, whole records.
type piece struct {
	file int32
	pad  bool // its records are given once more
	from cursor
	end  cursor // of the record behind; noEnd for all that is there
}

// noEnd is past the end of any file.
var noEnd = cursor{1<<63 - 1, 1<<63 - 1}
