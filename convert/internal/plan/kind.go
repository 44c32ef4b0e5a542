package plan

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/optname"
)

// kind is what is known of a kind of input without an input: how messages show the options of a
// set.
type kind struct {
	// Fields are the fields that set the effective options, by manifest key; the options common to
	// all kinds are in sharedFields.
	Fields map[string]optname.Name
	// text formats the value of an option that is neither a string nor a list of strings for
	// people, and reports whether it knows it. It may be nil.
	text func(raw json.RawMessage) (string, bool)
}

// Kinds maps the option "source" of a manifest to its kind.
var Kinds = map[string]kind{"images": imageKind, "csv": csvKind, "table": tableKind}

// sharedFields are the fields of the options common to all kinds.
var sharedFields = map[string]optname.Name{
	OptionSplits: optname.OptionsSplits, optionShards: optname.OptionsShards, "even": optname.OptionsEven,
	"compression": optname.OptionsCompression, "limit": optname.OptionsLimit, "seed": optname.OptionsSeed,
}

// kind returns the run's kind of input.
func (r *target) kind() kind {
	var name string
	_ = json.Unmarshal(r.options["source"], &name) // of another version: an unknown kind
	return Kinds[name]
}

// FieldOf returns what sets an option. An unknown key, such as one from another kind or version, is
// its own name.
func (k kind) FieldOf(key string) optname.Name {
	for _, fields := range []map[string]optname.Name{k.Fields, sharedFields} {
		if field, ok := fields[key]; ok {
			return field
		}
	}
	return optname.Name{Go: key, Word: key}
}

// optionText formats the value of an option as on a command line.
func (k kind) optionText(raw json.RawMessage) string {
	var text string
	var list []string
	if json.Unmarshal(raw, &text) != nil {
		known := false
		if json.Unmarshal(raw, &list) == nil {
			text, known = strings.Join(list, ","), true
		} else if k.text != nil {
			text, known = k.text(raw)
		}
		if !known {
			text = compact(raw)
		}
	}
	switch {
	case text == "":
		return notGiven
	case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl):
		return strconv.Quote(text)
	}
	return text
}

// OptionAntialias is the option of sets of resized images.
const OptionAntialias = "antialias"

// imageKind is the input kind of images: the fields that set the options of effective.
var imageKind = kind{Fields: map[string]optname.Name{
	"archive_format": optname.ImageOptionsArchiveFormat, "image_key": optname.ImageOptionsImageKey, "labels": optname.LabelSpecFile, "label_column": optname.LabelSpecColumn, "split_column": optname.LabelSpecSplitColumn, "label_offset": optname.LabelSpecOffset, "classes": optname.LabelSpecClasses,
	"annotations": optname.AnnotationSpecFiles, "instance_masks": optname.AnnotationSpecInstanceMasks, "min_visibility": optname.AnnotationSpecMinVisibility,
	OptionDropEmpty: optname.AnnotationSpecDropEmpty, "keep_unannotated": optname.AnnotationSpecKeepUnannotated, "masks": optname.AnnotationSpecMasks, "mask_fill": optname.AnnotationSpecMaskFill,
	"multi_label": optname.LabelSpecSeparator, "features": optname.ImageOptionsFeatures, "rename": optname.ImageOptionsRename,
	"include": optname.SelectSpecInclude, "exclude": optname.SelectSpecExclude, "follow_symlinks": optname.SelectSpecFollowSymlinks, "by_content": optname.SelectSpecByContent,
	"encode": optname.EncodeSpecFormat, "quality": optname.EncodeSpecQuality, "subsampling": optname.EncodeSpecSubsampling,
	"mean": optname.NormalizeMean, "std": optname.NormalizeStd, "channels": optname.EncodeSpecChannels,
	"resize": optname.ImageOptionsResize, "filter": optname.ResizeSpecFilter, "fit": optname.ResizeSpecFit, "pad_color": optname.ResizeSpecPadColor,
	OptionAntialias: optname.ResizeSpecNoAntialias, "no_upscale": optname.ResizeSpecNoUpscale, "exact_pixels": optname.ImageOptionsExactPixels,
	"augment": optname.AugmentSpecPolicy, "copies": optname.AugmentSpecCopies, "keep_original": optname.AugmentSpecKeepOriginal,
	"augment_splits": optname.AugmentSpecSplits,
	"min_size":       optname.SelectSpecMinSize, "max_aspect": optname.SelectSpecMaxAspect, "max_pixels": optname.CodecOptionsMaxPixels,
	"background": optname.CodecOptionsBackground, "no_check": optname.EncodeSpecNoCheck, "allow_arithmetic": optname.CodecOptionsAllowArithmetic,
	"float_range": optname.CodecOptionsFloatRange,
}}

// csvKind is the input kind of CSV files: the fields that set the options of effective.
var csvKind = kind{Fields: map[string]optname.Name{
	"delimiter": optname.CSVOptionsDelimiter, "no_header": optname.CSVOptionsNoHeader, "columns": optname.CSVOptionsColumns, "column": optname.CSVOptionsTypes,
	"na": optname.CSVOptionsMissing, "na_values": optname.CSVOptionsMissingValues, "drop": optname.CSVOptionsDrop, "vector": optname.CSVOptionsVectors,
	"label": optname.CSVOptionsLabel, "vocab": optname.CSVOptionsVocab, "label_offset": optname.CSVOptionsLabelOffset,
	"key": optname.CSVOptionsKey, "shuffle": optname.CSVOptionsShuffle,
}, text: vectorsText}

// tableKind is the input kind of tables of any format.
var tableKind = func() kind {
	fields := maps.Clone(csvKind.Fields)
	fields["format"] = optname.TableOptionsFormat
	return kind{Fields: fields, text: vectorsText}
}()

// vectorsText formats vectors for ParseVector, if the option value is one.
func vectorsText(raw json.RawMessage) (string, bool) {
	var vectors []struct {
		Name    string
		Columns []string
	}
	if json.Unmarshal(raw, &vectors) != nil {
		return "", false
	}
	var list []string
	for _, v := range vectors {
		list = append(list, v.Name+"="+strings.Join(v.Columns, ","))
	}
	return strings.Join(list, " "), true
}
