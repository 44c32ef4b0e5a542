package listing

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// listRows lists the images of Parquet and Arrow files, with the splits, labels and features of their
// rows.
func (l *Listing) listRows(ctx context.Context, o *options.ImageOptions, src origin.Place) error {
	found, err := walk.Rows(ctx, o, src)
	if err != nil {
		return err
	}
	l.Columns = found.Columns
	if err := l.take(ctx, o, &found.Found); err != nil {
		return err
	}
	if len(l.Images) == 0 {
		return fmt.Errorf("no rows in %s are selected", src.At.Path())
	}
	for _, name := range found.Unused {
		l.Account.Add(account.Column, name)
	}
	if len(found.Unused) > 0 {
		o.Notef("columns that are not stored: %s (%s stores some)", plural.Quoted(found.Unused, 5), optname.ImageOptionsFeatures)
	}
	if err := l.splitting(o).splitsFromRows(found); err != nil {
		return err
	}
	l.Features, l.Labels = found.Features, found.Labels
	var list *classfile.List
	if found.Classes != nil {
		list = classfile.Of(found.Classes, fmt.Sprintf("the column %q", found.Columns.Label))
	}
	return l.number(ctx, o, list)
}

// splitsFromRows keeps the splits that rows state in a column, or else those that the names of files
// state.
func (l splitting) splitsFromRows(found *walk.FoundRows) error {
	used, err := l.takeSplitColumns(&found.Splits, found.Rows.Src.Path())
	if err != nil {
		return err
	}
	var paths []string
	for i := range found.Rows.Tables {
		paths = append(paths, found.Rows.Tables[i].Name())
	}
	fileOf := func(p *origin.Image) int {
		file, _ := found.Rows.Of(p)
		return file
	}
	if !used {
		return l.splitsFromFiles(paths, fileOf)
	}
	byFile, _ := stated.SplitsOfFiles(paths)
	for i := range l.Images {
		p := &l.Images[i]
		switch {
		case p.Split == nil: // a bad sample
			if p.Bad() == nil {
				p.AddExtra().Bad = &setdir.BadSample{Key: jsontext.Readable(p.Path), Source: l.Origin.Source(p), Stage: "read", Reason: fmt.Sprintf("%s: the row names no split", &found.Splits)}
			}
			p.Split = &l.Splits[0]
		case byFile != nil && byFile[fileOf(p)] != *p.Split:
			return fmt.Errorf("%s is in the split %s by %s, and in %s by the name of its file: make them agree, or give %s, which replaces both",
				jsontext.Readable(p.Path), *p.Split, l.stated, byFile[fileOf(p)], optname.OptionsSplits)
		}
	}
	return nil
}
