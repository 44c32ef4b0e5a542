package conversion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/imagetable"
	"github.com/tfrec/tfrec/internal/table/input"
	"github.com/tfrec/tfrec/internal/view/survey"
)

const (
	// mostTables and mostJSON bound the tables and COCO files that a proposal tries.
	mostTables = 8
	mostJSON   = 64
	// lookAt is how much of a JSON file shows whether it is COCO's.
	lookAt = 64 << 10
)

// proposal finds the ways to convert a source: those whose dry run uses images or rows.
type proposal struct {
	src   string
	given []string // words of the command line that all readings have
	// saysLabels means that these words say where labels come from.
	saysLabels bool

	found    *survey.Survey
	readings []*reading
	failed   []failure
	temp     string
}

// failure is a reading that does not hold, and the reason.
type failure struct {
	of     *reading
	reason error
}

// lost are the failures of readings that know more about images than the first that holds: what
// annotations and tables say, and is not used.
func (p *proposal) lost() (lost []failure) {
	for _, f := range p.failed {
		if f.of.rank > p.readings[0].rank && !f.of.classes && len(f.of.flags) > 0 {
			lost = append(lost, f)
		}
	}
	return lost
}

// labelFlags say where the labels of images come from.
var labelFlags = []string{"annotations", "labels", "masks", "table", "unlabelled"}

// propose returns what src holds, and the ways to convert it, the best one first: none, one, or
// several that differ in meaning.
func propose(ctx context.Context, src string, given []string) (*proposal, error) {
	p := &proposal{src: src, given: given}
	for _, word := range given {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		p.saysLabels = p.saysLabels || strings.HasPrefix(word, "--") && slices.Contains(labelFlags, name)
	}
	var err error
	if p.found, err = survey.Look(ctx, src); err != nil {
		return nil, err
	}
	if p.temp, err = os.MkdirTemp("", "tfrec-init-*"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.temp)
	switch s := p.found; {
	case !s.Directory:
		err = p.file(ctx)
	case s.Images.Files > 0:
		err = p.images(ctx)
	default:
		err = p.packed(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.choose()
	return p, nil
}

// try adds a reading that holds, and reports whether it does.
func (p *proposal) try(ctx context.Context, r *reading) (bool, error) {
	return p.judge(ctx, r, p.plan(ctx, r))
}

// plan plans a reading, and returns why it does not hold.
func (p *proposal) plan(ctx context.Context, r *reading) error {
	return r.try(ctx, filepath.Join(p.temp, "out"), p.given)
}

// judge adds a reading that was planned, if it holds.
func (p *proposal) judge(ctx context.Context, r *reading, err error) (bool, error) {
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		p.failed = append(p.failed, failure{r, err})
		return false, nil
	case r.usable() == 0:
		p.failed = append(p.failed, failure{r, fmt.Errorf("none of %s can be used", plural.Of(r.sum.Samples, "sample"))})
		return false, nil
	case p.found.Directory && r.kind == kindImages:
		if within := p.found.Tops[storage.Base(r.src[0])]; within > 0 && r.src[0] != p.src { // a directory of the source
			r.outside = p.found.Images.Files - within
		}
	}
	p.readings = append(p.readings, r)
	return true, nil
}

// file tries the readings of one file, or of the files of a glob.
func (p *proposal) file(ctx context.Context) error {
	s := p.found
	images, rows := &reading{kind: kindImages, src: []string{p.src}}, &reading{kind: kindTable, src: []string{p.src}, says: "each row is a record", rank: rankLabels}
	switch {
	case len(s.Archives) > 0:
		images.says, images.rank = "the images of "+plural.Of(len(s.Archives), "archive"), rankLabels
		return p.labelled(ctx, images)
	case len(s.Records) > 0:
		images.says, images.rank = "the images of TFRecords", rankLabels
		return p.labelled(ctx, images)
	case len(s.Columnar) > 0:
		images.says, images.rank = "the images in a column", rankLabels
		if ok, err := p.try(ctx, images); ok || err != nil {
			return err
		}
		_, err := p.try(ctx, rows)
		return err
	case len(s.JSON) > 0:
		if err := p.ofJSON(ctx); err != nil || len(p.readings) > 0 {
			return err
		}
	case len(s.Tables) > 0 && !storage.Parse(p.src).Remote() && !strings.ContainsAny(p.src, "*?["):
		if err := p.besideTable(ctx); err != nil {
			return err
		}
	}
	_, err := p.try(ctx, rows)
	return err
}

// besideTable tries whether a table names images in its directory, or in those below it.
func (p *proposal) besideTable(ctx context.Context) error {
	dir := filepath.Dir(p.src)
	if !survey.NamesImages(ctx, p.src, dir) { // which may be a large directory of other things
		return nil
	}
	around, err := survey.Look(ctx, dir)
	if err != nil || around.Images.Files == 0 {
		return err
	}
	if ok, err := p.tryBoxes(ctx, dir, p.src); ok || err != nil {
		return err
	}
	return p.table(ctx, dir, around, p.src)
}

// ofJSON tries a JSON file as COCO's, for the images of its directory and of the one above.
func (p *proposal) ofJSON(ctx context.Context) error {
	at := storage.Parse(p.src)
	for _, dir := range []storage.Location{at.Dir(), at.Dir().Dir()} {
		if !survey.NamesImages(ctx, p.src, dir.Path()) {
			continue
		}
		if ok, err := p.try(ctx, annotated(dir.Path(), "coco", p.src)); ok || err != nil {
			return err
		}
	}
	return nil
}

// labelled tries a reading with the labels that a source states, and without any.
func (p *proposal) labelled(ctx context.Context, r *reading) error {
	ok, err := p.try(ctx, r)
	if ok || err != nil || p.saysLabels {
		return err
	}
	bare := r.with("--unlabelled")
	bare.says, bare.rank = r.says+", without labels", rankNothing
	_, err = p.try(ctx, bare)
	return err
}

// packed tries the readings of a directory without images: of files that hold them, or of a table.
func (p *proposal) packed(ctx context.Context) error {
	s := p.found
	at := storage.Parse(p.src)
	if len(s.Records) > 0 { // the directory of a set
		set := &reading{kind: kindImages, src: []string{p.src}, says: "the images of TFRecords", rank: rankLabels}
		if ok, err := p.try(ctx, set); ok || err != nil {
			return err
		}
	}
	for _, c := range []struct {
		names []string
		kinds []string
		says  string
	}{
		{s.Archives, []string{kindImages}, "the images of " + plural.Of(len(s.Archives), "archive")},
		{s.Columnar, []string{kindImages, kindTable}, "the rows of " + plural.Of(len(s.Columnar), "file")},
		{s.Records, []string{kindImages}, "the images of TFRecords"},
		{s.Tables, []string{kindTable}, "the rows of " + plural.Of(len(s.Tables), "file")},
		{s.Arrays, []string{kindTable}, "the rows of " + plural.Of(len(s.Arrays), "array file")},
	} {
		if slices.ContainsFunc(c.names, func(name string) bool { return path.Ext(name) == ".npy" }) && len(c.names) > 1 {
			p.failed = append(p.failed, failure{new(reading), errors.New("several .npy files may be columns of a table, or parts of it: np.savez makes one file of columns, and a quoted glob names parts")})
			continue
		}
		for _, pattern := range patterns(c.names) {
			for _, kind := range c.kinds {
				before := len(p.readings)
				r := &reading{kind: kind, src: []string{at.Join(pattern).Path()}, says: c.says, rank: rankLabels}
				var err error
				if kind == kindImages {
					err = p.labelled(ctx, r)
				} else {
					_, err = p.try(ctx, r)
				}
				if err != nil {
					return err
				}
				if len(p.readings) > before {
					break
				}
			}
		}
	}
	return nil
}

// patterns returns globs of files, one for each extension and depth, or the name of a file alone.
func patterns(names []string) []string {
	files := map[string][]string{} // by depth and pattern of the last element
	var keys []string
	for _, name := range names {
		key := fmt.Sprint(strings.Count(name, "/"), basePattern(path.Base(name)))
		if files[key] == nil {
			keys = append(keys, key)
		}
		files[key] = append(files[key], name)
	}
	var found []string
	for _, key := range keys {
		group := files[key]
		parts := strings.Split(group[0], "/")
		for _, name := range group[1:] {
			for i, part := range strings.Split(name, "/") {
				if i < len(parts)-1 && parts[i] != part {
					parts[i] = "*"
				}
			}
		}
		if len(group) > 1 {
			parts[len(parts)-1] = basePattern(path.Base(group[0]))
		}
		found = append(found, strings.Join(parts, "/"))
	}
	return found
}

// basePattern returns the pattern of files that are named like one of a set.
func basePattern(base string) string {
	if stem, _, ok := strings.Cut(base, "-of-"); ok { // x-train.tfrecord-00000-of-00002, or with an extension
		stem = strings.TrimRight(stem, "0123456789")
		if ext := path.Ext(stem); ext != "" {
			return "*" + ext + "*"
		}
	}
	if strings.HasPrefix(base, "part-r-") && path.Ext(base) == "" {
		return "part-r-*"
	}
	bare := strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
	return "*" + path.Ext(bare) + base[len(bare):]
}

// images tries the readings of a directory of images.
func (p *proposal) images(ctx context.Context) error {
	plain := &reading{kind: kindImages, src: []string{p.src}, says: "labels are the names of class directories", rank: rankLabels, classes: true}
	if p.saysLabels {
		plain.says = "labels as the flags say"
		_, err := p.try(ctx, plain)
		return err
	}
	if ok, err := p.masks(ctx); err != nil || ok && len(p.found.Tops) == 2 { // which are no classes then
		return err
	}
	if err := p.annotations(ctx); err != nil {
		return err
	}
	tables := p.found.Tables[:min(len(p.found.Tables), mostTables)]
	boxed := false
	for _, group := range p.bySplit(tables) {
		ok, err := p.tryBoxes(ctx, p.src, group...)
		if err != nil {
			return err
		}
		boxed = boxed || ok
	}
	for _, table := range tables {
		if boxed {
			break // whose labels are those of objects
		}
		at := storage.Parse(p.src).Join(table)
		named := survey.NamesImages(ctx, at.Path(), p.src) || path.Dir(table) != "." && survey.NamesImages(ctx, at.Path(), at.Dir().Path())
		if !named {
			continue
		}
		if err := p.table(ctx, p.src, p.found, at.Path()); err != nil {
			return err
		}
	}
	if ok, err := p.classes(ctx, plain); ok || err != nil {
		return err
	}
	bare := plain.with("--unlabelled")
	bare.says, bare.rank = "images without labels", rankNothing
	_, err := p.try(ctx, bare)
	return err
}

// classes tries class directories. If there is but one, the classes may be in it.
func (p *proposal) classes(ctx context.Context, r *reading) (bool, error) {
	ok, err := p.try(ctx, r)
	if !ok || err != nil || len(r.labels()) != 1 {
		return ok, err
	}
	deeper := *r
	deeper.src = []string{storage.Join(p.src, r.labels()[0])}
	if st, err := storage.Stat(ctx, deeper.src[0]); err != nil || !st.IsDir() {
		return true, nil
	}
	before := len(p.readings)
	if ok, err := p.try(ctx, &deeper); err != nil || !ok {
		return true, err
	}
	if len(deeper.labels()) > 1 {
		p.readings = slices.Delete(p.readings, before-1, before)
	} else {
		p.readings = p.readings[:before]
	}
	return true, nil
}

// annotated is the reading of images with the objects of annotations.
func annotated(src, format string, at ...string) *reading {
	r := &reading{kind: kindImages, src: []string{src}, rank: rankObjects, says: "objects of " + strings.Join(at, ", ") + " (" + format + ")"}
	for _, path := range at {
		r.flags = append(r.flags, "--annotations="+path)
	}
	return r
}

// annotations tries COCO's files, and directories of annotations.
func (p *proposal) annotations(ctx context.Context) error {
	at := storage.Parse(p.src)
	files, err := p.coco(ctx)
	if err != nil {
		return err
	}
	for _, group := range files {
		if _, err := p.try(ctx, annotated(p.src, "coco", group...)); err != nil {
			return err
		}
	}
	if len(p.found.Annotations) == 0 && (len(p.found.JSON) == 0 || len(files) > 0) {
		return nil
	}
	for _, dir := range []string{"", "labels", "Annotations", "annotations", "label_2", "xmls"} {
		dir := at.Join(dir)
		if st, err := dir.Stat(ctx); err != nil || !st.IsDir() {
			continue
		}
		format, err := annotation.Detect(ctx, dir.Path())
		if err != nil {
			continue
		}
		if ok, err := p.try(ctx, annotated(p.src, format, dir.Path())); ok || err != nil {
			return err
		}
	}
	return nil
}

// tryBoxes tries tables as annotations. Most tables have no boxes: that is no failure.
func (p *proposal) tryBoxes(ctx context.Context, src string, at ...string) (bool, error) {
	failed := len(p.failed)
	ok, err := p.try(ctx, annotated(src, "csv", at...))
	p.failed = p.failed[:failed]
	return ok, err
}

// masks tries directories of masks next to one of images.
func (p *proposal) masks(ctx context.Context) (bool, error) {
	at := storage.Parse(p.src)
	for _, images := range []string{"images", "imgs", "img", "JPEGImages"} {
		for _, masks := range []string{"masks", "mask", "annotations", "labels", "SegmentationClass"} {
			from, to := at.Join(masks), at.Join(images)
			if !p.holds(masks) || !p.holds(images) {
				continue
			}
			r := &reading{
				kind: kindImages, src: []string{to.Path()}, rank: rankObjects, says: "masks of " + from.Path(),
				flags: []string{"--masks=" + from.Path(), "--unlabelled"},
			}
			if ok, err := p.try(ctx, r); ok || err != nil {
				r.outside = 0 // the masks
				return ok, err
			}
		}
	}
	return false, nil
}

// holds reports whether a directory of the source has images in it.
func (p *proposal) holds(dir string) bool { return p.found.Tops[dir] > 0 }

// coco returns COCO's files, as bySplit groups them.
func (p *proposal) coco(ctx context.Context) ([][]string, error) {
	at := storage.Parse(p.src)
	var names []string
	for _, name := range p.found.JSON[:min(len(p.found.JSON), mostJSON)] {
		head, err := headOf(ctx, at.Join(name))
		if err != nil {
			return nil, err
		}
		if annotation.LikeCOCO(head) {
			names = append(names, name)
		}
	}
	return p.bySplit(names), nil
}

// bySplit groups files that may annotate different images, as values of --annotations: those that have
// one name but for that of a split, such as instances_train2017.json and instances_val2017.json, or are
// in directories of splits.
func (p *proposal) bySplit(names []string) (found [][]string) {
	at := storage.Parse(p.src)
	var stems []string
	groups := map[string][]string{}
	for _, name := range names {
		words := slices.DeleteFunc(strings.FieldsFunc(path.Base(name), func(r rune) bool { return !unicode.IsLetter(r) }), func(word string) bool {
			return naming.KnownSplit(word) != ""
		})
		stem := strings.Join(words, " ")
		split := cmp.Or(imagetree.SplitOfFile(path.Base(name)), imagetree.Split(path.Base(path.Dir(name))))
		file := at.Join(name).Path()
		if split != "" {
			file, stem = split+"="+file, stem+" of splits"
		}
		if groups[stem] == nil {
			stems = append(stems, stem)
		}
		groups[stem] = append(groups[stem], file)
	}
	for _, stem := range stems {
		found = append(found, groups[stem])
	}
	return found
}

// headOf returns the beginning of a file; nothing of one that cannot be read, which a run names.
func headOf(ctx context.Context, at storage.Location) ([]byte, error) {
	f, err := at.Open(ctx)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	defer f.Close()
	head, _ := input.Head(f, lookAt)
	return head, context.Cause(ctx)
}

// table tries a table that names images: with its labels or, if it has none, with its other columns as
// features. Paths may lack an extension, or the directory of the images.
func (p *proposal) table(ctx context.Context, src string, s *survey.Survey, at string) error {
	dirs := []string{src}
	for _, dir := range []string{strings.TrimSuffix(path.Base(at), path.Ext(at)), "train", "images", "img"} {
		if st, err := storage.Stat(ctx, storage.Join(src, dir)); err == nil && st.IsDir() {
			dirs = append(dirs, storage.Join(src, dir))
		}
	}
	for _, dir := range dirs {
		for _, suffix := range []string{"", mostImages(s)} {
			r := &reading{kind: kindImages, src: []string{dir}, says: "labels of " + at, rank: rankLabels, flags: []string{"--table=" + at}}
			if suffix != "" {
				r = r.with("--image-suffix=" + suffix)
			}
			ok, err := p.tryTable(ctx, r, at)
			if ok || err != nil {
				return err
			}
		}
	}
	return nil
}

// tryTable tries a table with a column of labels, or without one.
func (p *proposal) tryTable(ctx context.Context, r *reading, at string) (bool, error) {
	err := p.plan(ctx, r)
	var none *imagetable.ColumnError
	if errors.As(err, &none) && none.Path != "" && len(none.Columns) > 1 {
		others := slices.DeleteFunc(slices.Clone(none.Columns), func(name string) bool { return name == none.Path })
		r = r.with("--unlabelled", "--features="+strings.Join(others, ","))
		r.says, r.rank = "columns of "+at+" as features, without labels", rankFeatures
		err = p.plan(ctx, r)
	}
	return p.judge(ctx, r, err)
}

// mostImages is the most frequent extension of images.
func mostImages(s *survey.Survey) string {
	for _, e := range s.Extensions {
		if imagetree.IsImage("x" + e.Extension) {
			return e.Extension
		}
	}
	return ""
}

// choose leaves the readings that use most of the images or rows, and of these the ones that state labels
// or objects, if there are any. One class is no label beside others.
func (p *proposal) choose() {
	most := int64(0)
	for _, r := range p.readings {
		most = max(most, r.usable())
	}
	p.readings = slices.DeleteFunc(p.readings, func(r *reading) bool { return r.usable()*2 < most })
	best := 0
	for _, r := range p.readings {
		best = max(best, r.rank)
	}
	p.readings = slices.DeleteFunc(p.readings, func(r *reading) bool {
		return r.rank < best && (r.rank < rankLabels || r.classes && len(r.labels()) < 2)
	})
	slices.SortStableFunc(p.readings, func(a, b *reading) int { return b.rank - a.rank })
}
