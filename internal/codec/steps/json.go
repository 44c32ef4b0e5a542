package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// StepReaders makes each step of one image from its JSON fields.
var StepReaders = map[string]func(op string, fields map[string]json.RawMessage) (Step, error){
	"crop":           readStep[CropBox],
	"resized_crop":   readStep[ResizedCrop],
	"resize":         readStep[ResizeTo],
	"hflip":          readStep[HFlip],
	"vflip":          readStep[VFlip],
	"rotate":         readStep[Rotate],
	"affine":         readStep[Affine],
	"perspective":    readStep[Perspective],
	"brightness":     readStep[Brightness],
	"contrast":       readStep[Contrast],
	"saturation":     readStep[Saturation],
	"hue":            readStep[Hue],
	"gamma":          readStep[Gamma],
	"grayscale":      readStep[Grayscale],
	"invert":         readStep[Invert],
	"posterize":      readStep[Posterize],
	"solarize":       readStep[Solarize],
	"equalize":       readStep[Equalize],
	"autocontrast":   readStep[AutoContrast],
	"sharpness":      readStep[Sharpness],
	"gaussian_blur":  readStep[GaussianBlur],
	"gaussian_noise": readStep[GaussianNoise],
	"erase":          readStep[Erase],
	"jpeg":           readStep[JPEGArtefacts],
}

// unmarshalStep reads a step from JSON as marshalStep writes it:
// {"op":"rotate","angle":12.5,"filter":"nearest"}. Fields are in lower case and
// all have to be there, but for those that are left out when they are zero. An
// operation or field that isn't known is an error, and so is a value out of its
// range.
func unmarshalStep(data []byte) (Step, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("step: %w", err)
	}
	raw, ok := fields["op"]
	if !ok {
		return nil, errors.New(`step: no "op"`)
	}
	var op string
	if err := readField(raw, reflect.ValueOf(&op).Elem()); err != nil {
		return nil, fmt.Errorf("step: op: %w", err)
	}
	delete(fields, "op")
	if PartnersOf(op) > 0 {
		s := Mixture{Method: op}
		if err := fillStep(op, fields, reflect.ValueOf(&s).Elem()); err != nil {
			return nil, err
		}
		if err := s.validate(); err != nil {
			return nil, err
		}
		return s, nil
	}
	read := StepReaders[op]
	if read == nil {
		return nil, fmt.Errorf("step: unknown op %q: want one of %s, or %s, %s or %s", op, list(maps.Keys(StepReaders)), MixUp, CutMix, Mosaic)
	}
	return read(op, fields)
}

// readStep fills a step of type S from the fields.
func readStep[S Step](op string, fields map[string]json.RawMessage) (Step, error) {
	var s S
	if err := fillStep(op, fields, reflect.ValueOf(&s).Elem()); err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// fillStep sets the fields of a step, and consumes them.
func fillStep(op string, fields map[string]json.RawMessage, v reflect.Value) error {
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		raw, ok := fields[name]
		delete(fields, name)
		switch {
		case ok:
			if err := readField(raw, v.Field(i)); err != nil {
				return fmt.Errorf("%s: %s: %w", op, name, err)
			}
		case option == "":
			return fmt.Errorf("%s: no %q", op, name)
		}
	}
	if len(fields) > 0 {
		return fmt.Errorf("%s: unknown field %s", op, list(maps.Keys(fields)))
	}
	return nil
}

// readField reads one field. It returns an error for null and for an array of another length, which
// package json accepts.
func readField(raw json.RawMessage, to reflect.Value) error {
	if string(raw) == "null" {
		return errors.New("null is not a value")
	}
	if to.Kind() == reflect.Array {
		var elements []json.RawMessage
		if err := json.Unmarshal(raw, &elements); err != nil {
			return err
		}
		if len(elements) != to.Len() {
			return fmt.Errorf("%d values: want %d", len(elements), to.Len())
		}
		for i, raw := range elements {
			if err := readField(raw, to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return json.Unmarshal(raw, to.Addr().Interface())
}

// list writes names in order.
func list(names func(yield func(string) bool)) string {
	return strings.Join(slices.Sorted(names), ", ")
}

// marshalStep writes the fields of a step after its op.
func marshalStep(s Step) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.op(), err)
	}
	out := append([]byte(`{"op":"`), s.op()...)
	out = append(out, '"')
	if len(data) > len("{}") {
		out = append(out, ',')
	}
	return append(out, data[1:]...), nil
}
