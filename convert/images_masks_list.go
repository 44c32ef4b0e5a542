package convert

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// addMasks finds the mask of each image in AnnotationSpec.Masks. Images of the source in that
// directory are masks, and not samples.
func (l *listing) addMasks(ctx context.Context, o *options.ImageOptions) error {
	at := storage.Parse(o.Annotations.Masks)
	st, err := at.Stat(ctx)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", at.Path())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	l.colors.note(o, &l.account)
	w := &walker{o: new(options.ImageOptions), ctx: ctx, visited: map[string]bool{}}
	if l.masks, err = w.listTree(imagePlace{at: at, directory: st}, ""); err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	l.leaveOutMasks(l.masks.place())
	var found []imageFile
	names := annotation.Set{}
	for _, mask := range w.images {
		if strings.ToLower(path.Ext(mask.path)) == ".png" {
			found = append(found, mask)
			names.Images = append(names.Images, annotation.Image{Name: mask.path, Source: mask.path})
		}
	}
	paths := make([]string, len(l.images))
	for i := range l.images {
		paths[i] = l.images[i].path
	}
	matched, err := names.Match(paths)
	if err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	for _, k := range matched.Missing {
		l.account.Add(account.NoImage, found[k].path)
	}
	if n := len(matched.Missing); n > 0 {
		o.Notef("%s in %s without an image left alone", plural.Of(n, "mask"), at.Path())
	}
	for i, k := range matched.Of {
		if p := &l.images[i]; k >= 0 {
			p.addExtra().mask = &found[k]
		} else if p.bad() == nil {
			p.addExtra().bad = &setdir.BadSample{
				Key: jsontext.Readable(p.path), Source: jsontext.Readable(l.origin.source(p)), Stage: "read",
				Reason: "no mask of this name, but for the extension .png, is in the directory of masks",
			}
		}
	}
	return nil
}

// leaveOutMasks leaves out the images of the source that are in a directory.
func (l *listing) leaveOutMasks(dir string) {
	below, ok := strings.CutPrefix(dir, strings.TrimSuffix(l.origin.place(), "/")+"/")
	if !ok {
		return
	}
	kept := l.images[:0]
	for _, p := range l.images {
		if !strings.HasPrefix(p.path, below+"/") {
			kept = append(kept, p)
		}
	}
	l.skipped += int64(len(l.images) - len(kept))
	l.images = kept
}
