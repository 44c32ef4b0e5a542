// Dogsvscats learns to tell cats from dogs, as the example of that name in GoMLX does, with images
// that tfrec reads, varies and resizes.
//
//	tfrec convert images PetImages pets --resize 150x150 --fit longer --max-errors 50 \
//		--splits train=0.8,val=0.1,test=0.1
//	cd gomlx && go run ./examples/dogsvscats -data ../pets -model ../pets-model
//
// PetImages has a directory of JPEG files for each class, as in Kaggle's Dogs vs. Cats;
// ./examples/dogsvscats/photos draws one. Its damaged files are listed in pets/errors.jsonl. The
// set has each image once, and every epoch has other variations of it. docs/gomlx.md compares this
// with the input of GoMLX's example.
package main

import (
	"context"

	"github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/gomlx/examples/dogsvscats/pets"
	"github.com/tfrec/tfrec/gomlx/examples/internal/fit"
	"github.com/tfrec/tfrec/reader"
)

func main() { fit.Main("pets", newJob) }

// newJob describes the training on the set in a directory.
func newJob(ctx context.Context, dir string) (*fit.Job[*reader.ImageBatch], error) {
	sets, err := fit.Splits(ctx, dir)
	if err != nil {
		return nil, err
	}
	train, err := pets.Train(sets["train"], 32)
	if err != nil {
		return nil, err
	}
	return &fit.Job[*reader.ImageBatch]{
		Train: train, Val: pets.Eval(sets["val"], 64), Test: pets.Eval(sets["test"], 64),
		Spec: gomlx.Images{}, Model: pets.Model,
		Rate: 0.005, Round: 50, Patience: 4,
	}, nil
}
