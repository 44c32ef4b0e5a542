package augment

import (
	"github.com/tfrec/tfrec/augment/internal/operation"
	"github.com/tfrec/tfrec/augment/internal/policy"
)

// Policy describes random changes of images: operations in order, each with the ranges of its
// parameters and a probability. It is immutable and safe for concurrent use.
//
// Draw decides the steps for an image. The result depends only on the seed, the image's key, the
// number of the variant, from 1, and the size. DrawBoxes is Draw for an image with objects at
// boxes, which iou_crop looks at. If the policy mixes images (Mixes), Partners returns how many are
// mixed into one, and DrawMixed is DrawBoxes for an image with those. Mirrors reports whether a
// draw may mirror an image, and String returns the short form.
type Policy = policy.Policy

// SpecError is an error in a policy's text, with its position. File is the name of the YAML file;
// "" for text. Line and Column count from 1; a column is a character. Word is the word there; "" at
// the end. Reason describes the mistake and the allowed values.
type SpecError = policy.SpecError

// ParsePolicy reads a policy from its short form:
//
//	random_resized_crop:224,scale=0.3-1|hflip|one_of:p=0.5(posterize:4|solarize:128)
//
// Operations are separated by |. After : are the parameters, in the order of [Operations] or by
// name, with commas between them. A range is lo-hi or lo..hi. Groups hold operations in
// parentheses. Spaces don't matter. Errors are of type [*SpecError] and point at the word that is
// wrong.
func ParsePolicy(spec string) (*Policy, error) { return policy.ParsePolicy(spec) }

// LoadPolicy reads a policy from a YAML file if the argument ends in .yaml or .yml, and otherwise
// parses it with [ParsePolicy].
func LoadPolicy(specOrFile string) (*Policy, error) { return policy.LoadPolicy(specOrFile) }

// ParsePolicyYAML reads a policy from YAML: a list of operations. Each is a text in the short form,
// or a mapping of the operation's name to its value, to a list of values or to a mapping of
// parameters. A group has its operations as a list, alone or under ops, next to the group's
// parameters:
//
//	# train.yaml
//	- random_resized_crop: {size: 224, scale: [0.3, 1]}
//	- hflip
//	- color_jitter: [0.4, 0.4, 0.4, 0.1]
//	- one_of:
//	    p: 0.5
//	    ops:
//	      - posterize: 4
//	      - solarize: 128
//
// The name is the file's, for errors of type [*SpecError].
func ParsePolicyYAML(data []byte, name string) (*Policy, error) {
	return policy.ParsePolicyYAML(data, name)
}

// Operation describes an operation of a policy. Name is its name in a policy, such as "hflip", Kind
// is "shape", "color", "degrade", "policy", "mix" or "group", and About describes it in a sentence.
// Torchvision is its counterpart in torchvision.transforms.v2; "" for none. Parameters are in the
// order in which they may be given without name.
type Operation = operation.Description

// Parameter describes a parameter of an [Operation]: its Name in a policy, such as "scale", its
// Default as it would be written, "" when it must be given, the values that are Allowed and their
// unit, and what it is About.
type Parameter = operation.ParameterDescription

// Operations describes all operations, in the order of the documentation.
func Operations() []Operation { return operation.Operations() }

// Mix configures how the images of a batch are mixed with one another, and their labels with them:
// by MixUp, a weighted sum of two images (Zhang et al., 2017), or by CutMix, a box of one image in
// the other (Yun et al., 2019). Both are the alpha of the method, which draws from Beta(alpha,
// alpha): 0.001 to 1000, or 0 to turn it off. If both are given, each batch draws one of the two.
// Draw decides for a batch, and Validate returns an error for an alpha out of range. The zero value
// mixes nothing.
type Mix = operation.Mix

// MixDraw is the decision of a [Mix] for one batch. Lambda is the share of an image, and of its
// label, in the mixture, from 0 to 1; with CutMix it is the share of the area outside of the Box,
// which is replaced. Box is empty for MixUp.
type MixDraw = operation.MixDraw
