package preview

import (
	"context"

	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
)

// Beginnings of the files that a run writes.
const (
	pageBegins  = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\""
	sheetBegins = "\x89PNG\r\n\x1a\n"
)

// checkFree returns an error if a run cannot write out. Without overwrite, a file that begins like
// what this run makes may be just that, written by a run that was killed before it ended: output.Put
// compares them.
func checkFree(ctx context.Context, out, begins string, overwrite bool) error {
	exists, err := output.Find(ctx, out)
	if err != nil || !exists || overwrite {
		return err
	}
	return output.MustBegin(ctx, out, begins)
}

// checkInput returns an error if the page would replace an input.
func checkInput(ctx context.Context, c *contents.Set, out string) error {
	inputs := make([]string, len(c.Files))
	for i, f := range c.Files {
		inputs[i] = f.Path
	}
	return output.NotInput(ctx, out, inputs...)
}
