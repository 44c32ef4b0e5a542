package voc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
)

const (
	annotationsDir = "Annotations"
	masksDir       = "SegmentationObject"
	// void is the index of pixels between objects.
	void = 255
	// inflated is more than what deflate makes of a byte at most, and so a bound of the pixels of a
	// PNG.
	inflated = 1100
	// maxRuns is the maximum number of runs of pixels in a PNG.
	maxRuns = 1 << 22
	// maxStrangers is the maximum number of masks without annotations that are named: the
	// annotations may cover only some of the masks.
	maxStrangers = 1000
)

// errKind is for PNGs whose pixels are not the numbers of objects.
var errKind = errors.New("want a PNG with a palette, or grayscale with 8 bits a sample and no transparency")

// addMasks gives objects the regions of the PNGs in SegmentationObject, next to the directory
// Annotations: the pixels of index N belong to the N-th object of the XML of the same name. Objects
// without pixels in their mask become faults; if there are objects and no PNG at all, that is an
// error.
func addMasks(ctx context.Context, set *annotation.Set, dir string, o annotation.Options) error {
	l := storage.Parse(dir)
	if !l.Remote() {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(whole)
	}
	images := map[string]map[string]*annotation.Image{} // by directory of masks and name without extension
	objects, pngs, strangers := 0, 0, 0
	for i := range set.Images {
		im := &set.Images[i]
		objects += len(im.Objects)
		at, name, ok := masksOf(strings.TrimRight(dir, "/") + "/" + im.Source)
		if !ok {
			refuseMasks(im, "the annotation is in no directory "+annotationsDir+", next to which "+masksDir+" has the pixels of its objects")
			continue
		}
		if images[at] == nil {
			images[at] = map[string]*annotation.Image{}
		}
		images[at][name] = im
	}
	looked := slices.Sorted(maps.Keys(images))
	for _, at := range looked {
		d, err := listMasks(ctx, at)
		if err != nil {
			return err
		}
		pngs += len(d.Files)
		d.Files = slices.DeleteFunc(d.Files, func(f annotation.File) bool {
			set.Beside = append(set.Beside, storage.Join(at, f.Name))
			if images[at][withoutExt(f.Name)] != nil {
				return false
			}
			if strangers++; strangers <= maxStrangers {
				set.Faults = append(set.Faults, annotation.Fault{Source: masksDir + "/" + f.Name, Reason: "a mask of objects without an annotation of its name"})
			}
			return true
		})
		masks, err := readMasks(ctx, d, o)
		if err != nil {
			return err
		}
		for i := range masks {
			mask := &masks[i]
			name := withoutExt(mask.Source)
			im := images[at][name]
			if err := assign(im, mask, masksDir+"/"+mask.Source); err != nil {
				im.Objects, im.Unreadable = nil, err.Error()
			}
			delete(images[at], name)
		}
		for name, im := range images[at] {
			refuseMasks(im, "there is no "+masksDir+"/"+name+".png")
		}
	}
	if n := strangers - maxStrangers; n > 0 {
		set.Faults = append(set.Faults, annotation.Fault{Source: masksDir, Reason: fmt.Sprintf("%d more masks of objects without annotations of their names", n)})
	}
	switch {
	case objects == 0 || pngs > 0:
		return nil
	case len(looked) == 0:
		return fmt.Errorf("%s: masks of objects are in %s beside a directory %s, in which these files are not: leave %s out to have boxes only", dir, masksDir, annotationsDir, optname.AnnotationSpecInstanceMasks)
	}
	return fmt.Errorf("no PNG with the masks of objects is in %s: leave %s out to have boxes only", looked[0], optname.AnnotationSpecInstanceMasks)
}

// refuseMasks adds one fault for the masks of all objects of an image.
func refuseMasks(im *annotation.Image, reason string) {
	if len(im.Objects) == 0 {
		return
	}
	for i := range im.Objects {
		im.Objects[i].NoMask = true
	}
	im.Faults = append(im.Faults, annotation.Fault{Source: im.Source, Reason: reason, Part: annotation.PartMask})
}

// masksOf returns the directory of the masks for the path of an XML, and the XML's name below
// Annotations, without its extension; false if it is in no such directory.
func masksOf(xml string) (dir, name string, ok bool) {
	parts := strings.Split(xml, "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if parts[i] == annotationsDir {
			return strings.Join(append(parts[:i:i], masksDir), "/"), withoutExt(strings.Join(parts[i+1:], "/")), true
		}
	}
	return "", "", false
}

func withoutExt(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// listMasks lists a directory of masks, which need not exist.
func listMasks(ctx context.Context, dir string) (*annotation.Directory, error) {
	if st, err := storage.Stat(ctx, dir); storage.Missing(err) || err == nil && !st.IsDir() {
		return &annotation.Directory{}, nil
	} else if err != nil {
		return nil, err
	}
	return annotation.List(ctx, dir, func(base string) bool { return annotation.HasExt(base, ".png") })
}

// readMasks reads the masks that a directory lists.
func readMasks(ctx context.Context, d *annotation.Directory, o annotation.Options) ([]annotation.Image, error) {
	if len(d.Files) == 0 {
		return nil, nil
	}
	f := annotation.Format{Name: masksDir, Ext: ".png", Limit: maxFile, Memory: inflated, Parse: parseMask}
	set, err := f.ReadFiles(ctx, d, o)
	if err != nil {
		return nil, err
	}
	return set.Images, nil
}

// assign gives the objects of an image their regions.
func assign(im, mask *annotation.Image, source string) error {
	if im.Unreadable != "" {
		return errors.New(im.Unreadable)
	}
	if mask.Unreadable != "" {
		refuseMasks(im, source+": "+mask.Unreadable)
		return nil
	}
	regions := map[string]*annotation.Region{}
	for _, o := range mask.Objects {
		regions[o.Name] = o.Region
	}
	for _, f := range im.Faults {
		delete(regions, f.Name)
	}
	for i := range im.Objects {
		o := &im.Objects[i]
		if o.Region = regions[o.Name]; o.Region == nil {
			if err := im.RefuseMask(o, source+" has no pixels of it"); err != nil {
				return err
			}
		}
		delete(regions, o.Name)
	}
	for _, o := range mask.Objects {
		if regions[o.Name] != nil {
			if err := im.Refuse(o.Name, 0, source+" has pixels of it, and the annotation no such object"); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseMask makes an object of each index of a PNG, with the name that the object in the XML has.
func parseMask(im *annotation.Image, data []byte) error {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return fmt.Errorf("it cannot be read as a PNG: %w", err)
	case config.Width > region.MaxSide || config.Height > region.MaxSide || int64(config.Width)*int64(config.Height) > inflated*int64(len(data)):
		return fmt.Errorf("it has %d bytes, too few for %d x %d pixels", len(data), config.Width, config.Height)
	}
	const depth, kind, gray, palette = 24, 25, 0, 3 // of a PNG's header
	if string(data[12:16]) != "IHDR" || data[kind] != palette && (data[kind] != gray || data[depth] != 8) {
		return errKind
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("it cannot be read as a PNG: %w", err)
	}
	var pix []uint8
	stride := 0
	switch m := decoded.(type) {
	case *image.Paletted:
		pix, stride = m.Pix, m.Stride
	case *image.Gray:
		pix, stride = m.Pix, m.Stride
	default: // gray with a transparent value
		return errKind
	}
	return addRegions(im, pix, stride, config.Width, config.Height)
}

// addRegions adds an object for each index but 0 and void, in their order, whose runs are found in
// one pass down the columns.
func addRegions(im *annotation.Image, pix []uint8, stride, w, h int) error {
	var runs [256][]uint32
	var end [256]int // of the last run of an index
	total := 0
	for at := 0; at < w*h; {
		index, begin := pix[at%h*stride+at/h], at
		for at++; at < w*h && pix[at%h*stride+at/h] == index; {
			at++
		}
		if index == 0 || index == void {
			continue
		}
		if total++; total > maxRuns {
			return fmt.Errorf("it has more than %d runs of pixels", maxRuns)
		}
		runs[index] = append(runs[index], uint32(begin-end[index]), uint32(at-begin))
		end[index] = at
	}
	for index, list := range runs {
		if list == nil {
			continue
		}
		if rest := w*h - end[index]; rest > 0 {
			list = append(list, uint32(rest))
		}
		im.Objects = append(im.Objects, annotation.Object{
			Name: "object " + strconv.Itoa(index), Region: &annotation.Region{Runs: slices.Clip(list), Width: w, Height: h},
		})
	}
	return nil
}
