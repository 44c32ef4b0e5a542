package listing

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// noMask is the reason why an image without a mask cannot be used.
const noMask = "no mask of this name, but for the extension .png, is in the directory of masks"

// addMasks finds the mask of each image in AnnotationSpec.Masks. Images of the source in that
// directory are masks, and not samples.
func (l *Listing) addMasks(ctx context.Context, o *options.ImageOptions) error {
	at := storage.Parse(o.Annotations.Masks)
	st, err := at.Stat(ctx)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", at.Path())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	l.Colors.Note(o, &l.Account)
	files, err := walk.Tree(ctx, new(options.ImageOptions), origin.Place{At: at, Directory: st}, "")
	if err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	l.Masks = files.Origin.(*origin.Tree)
	l.leaveOutMasks(l.Masks.Place())
	var found []origin.Image
	names := annotation.Set{}
	for _, mask := range files.Images {
		if strings.ToLower(path.Ext(mask.Path)) == ".png" {
			found = append(found, mask)
			names.Images = append(names.Images, annotation.Image{Name: mask.Path, Source: mask.Path})
		}
	}
	paths := make([]string, len(l.Images))
	for i := range l.Images {
		paths[i] = l.Images[i].Path
	}
	matched, err := names.Match(paths)
	if err != nil {
		return fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	for _, k := range matched.Missing {
		l.Account.Add(account.NoImage, found[k].Path)
	}
	if n := len(matched.Missing); n > 0 {
		o.Notef("%s in %s without an image skipped", plural.Of(n, "mask"), at.Path())
	}
	for i, k := range matched.Of {
		if p := &l.Images[i]; k >= 0 {
			p.AddExtra().Mask = &found[k]
		} else if p.Bad() == nil {
			p.AddExtra().Bad = &setdir.BadSample{
				Key: jsontext.Readable(p.Path), Source: jsontext.Readable(l.Origin.Source(p)), Stage: "read",
				Reason: noMask,
			}
		}
	}
	return nil
}

// leaveOutMasks leaves out the images of the source that are in a directory.
func (l *Listing) leaveOutMasks(dir string) {
	below, ok := strings.CutPrefix(dir, strings.TrimSuffix(l.Origin.Place(), "/")+"/")
	if !ok {
		return
	}
	kept := l.Images[:0]
	for _, p := range l.Images {
		if !strings.HasPrefix(p.Path, below+"/") {
			kept = append(kept, p)
		}
	}
	l.Skipped += int64(len(l.Images) - len(kept))
	l.Images = kept
}
