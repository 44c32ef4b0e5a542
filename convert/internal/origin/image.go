package origin

// Image is a planned sample: a file below the source directory, a member of an archive, a record
// or a row.
type Image struct {
	Path    string  // relative to the source, with /; the key of a record; any bytes
	Split   *string // from its directory or the file of its record, shared; nil without
	Label   *string // shared by all images that have it; nil without labels
	ID      int32   // of the label, with the offset; without a vocabulary an index of the values of a Listing
	Item    int32   // its number in an origin that numbers its images
	Size    int64
	ModTime int64   // nanoseconds since 1970; 0 in archives
	Version Version // in an object store, an archive or on disk
	Extra   *Extra  // nil without any
}

// LabelName returns the label of an image; empty without.
func (p *Image) LabelName() string {
	if p.Label == nil {
		return ""
	}
	return *p.Label
}

// SplitName returns the split of an image; empty without.
func (p *Image) SplitName() string {
	if p.Split == nil {
		return ""
	}
	return *p.Split
}
