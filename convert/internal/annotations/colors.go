package annotations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation/maskcolors"
	"github.com/tfrec/tfrec/internal/annotation/masks"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Colors maps the colours of RGB masks to classes.
type Colors struct {
	At       storage.Location // of the list
	list     *maskcolors.List
	Table    *masks.Colors
	Identity []byte // a hash of the colours, in the order of classes; records have no names
}

// ReadColors reads the list of colours of AnnotationSpec.Masks; nil without one.
func ReadColors(ctx context.Context, o *options.ImageOptions) (*Colors, error) {
	if !o.Annotations.HasMasks() {
		return nil, nil
	}
	at, found, err := maskcolors.Find(ctx, storage.Parse(o.Annotations.Masks))
	c := &Colors{At: at}
	if err == nil && found {
		c.list, err = maskcolors.Read(ctx, at)
	}
	switch {
	case !found && err == nil || errors.Is(err, maskcolors.ErrKind): // it is in the account
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", optname.AnnotationSpecMasks, err)
	}
	colors := make([]maskcolors.Color, len(c.list.Classes))
	var hashed []byte
	for i, class := range c.list.Classes {
		colors[i] = class.Color
		hashed = append(hashed, class.Color[:]...)
	}
	sum := xxh3.Hash128(hashed).Bytes()
	c.Table, c.Identity = masks.NewColors(colors), sum[:]
	return c, nil
}

// Note notes the names of the classes, which sets do not store, and adds the unused fields of the list
// to an account. It does nothing for nil.
func (c *Colors) Note(o *options.ImageOptions, a *account.Account) {
	if c == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.list.Unused)) {
		a.Add(account.Field, fmt.Sprintf("%s (%d)", name, c.list.Unused[name]))
	}
	var says []string
	for i, class := range c.list.Classes {
		says = append(says, fmt.Sprintf("%d %s", i, jsontext.Readable(class.Name)))
	}
	o.Notef("the classes of masks in RGB are those of %s: %s", c.At.Path(), strings.Join(says, ", "))
	if first := c.list.Classes[0]; first.Color != (maskcolors.Color{}) {
		o.Notef("the first class of %s, %s, has the colour %v: Datumaro instead gives 0 to the class of 0,0,0, which it adds if there is none; move its line to the top for the same classes",
			c.At.Path(), jsontext.Readable(first.Name), first.Color)
	}
}
