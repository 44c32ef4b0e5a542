package preview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// opsText describes what was done to a variant, from the JSON of the augment.Draw that its record
// has: "rotate -2.18 · hflip". Other text is returned unchanged.
func opsText(ops string) string {
	var steps []json.RawMessage
	if json.Unmarshal([]byte(ops), &steps) != nil {
		return ops
	}
	var says []string
	for _, step := range steps {
		text, err := stepText(step)
		if err != nil {
			return ops
		}
		says = append(says, text)
	}
	return strings.Join(says, " · ")
}

// unsaid are the parameters that describe how an operation was done, or that are visible in the
// image itself.
var unsaid = map[string]bool{
	"op": true, "filter": true, "antialias": true, "fill": true, "corner": true, "seed": true, "width": true, "height": true,
}

func stepText(step json.RawMessage) (string, error) {
	var known struct {
		Op         string
		X, Y, W, H *json.Number
		Lambda     float64
		Partners   []struct {
			Key    string
			Weight float64
		}
	}
	if err := json.Unmarshal(step, &known); err != nil || known.Op == "" {
		return "", errors.New("no step")
	}
	name := strings.ReplaceAll(known.Op, "_", " ")
	if len(known.Partners) > 0 { // a mixture: the shares of the image itself and of the others
		parts := make([]string, len(known.Partners))
		for i, p := range known.Partners {
			parts[i] = fmt.Sprintf("%s %.0f%%", p.Key, 100*p.Weight)
		}
		return fmt.Sprintf("%s %.0f%% with %s", name, 100*known.Lambda, strings.Join(parts, ", ")), nil
	}
	if known.X != nil && known.Y != nil && known.W != nil && known.H != nil {
		return fmt.Sprintf("%s %v×%v at %v,%v", name, *known.W, *known.H, *known.X, *known.Y), nil
	}
	var keys, values []string
	d := json.NewDecoder(bytes.NewReader(step))
	d.UseNumber()
	d.Token() // the brace
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return "", err
		}
		if k, _ := key.(string); !unsaid[k] {
			keys, values = append(keys, k), append(values, plain(v))
		}
	}
	if len(keys) == 1 {
		return name + " " + values[0], nil
	}
	for i := range keys {
		name += " " + keys[i] + " " + values[i]
	}
	return name, nil
}

// plain formats a parameter: numbers with three significant digits.
func plain(v any) string {
	switch v := v.(type) {
	case json.Number:
		if x, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return strconv.FormatFloat(x, 'g', 3, 64)
		}
		return v.String()
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case []any:
		list := make([]string, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return strings.Join(list, ",")
	}
	b, _ := json.Marshal(v) // of what came from JSON
	return string(b)
}
