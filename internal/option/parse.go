package option

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/plural"
)

// Parser returns the function that parses a value and sets the field: Set, or one for fields with Words
// or of type uint64. It returns nil for other fields, which packages of flags parse. A string with Words
// gets its default.
func (o *Option) Parser() func(string) error {
	if to, ok := o.To.(*uint64); ok {
		return func(s string) (err error) {
			if *to, err = strconv.ParseUint(s, 10, 64); err != nil {
				err = errors.New("want a whole number, 0 or more")
			}
			return err
		}
	}
	if o.Set != nil || o.Words == nil {
		return o.Set
	}
	to := reflect.ValueOf(o.To).Elem()
	if to.Kind() == reflect.String {
		to.SetString(o.Default)
	}
	return func(s string) error {
		if !slices.Contains(o.Words, s) {
			return fmt.Errorf("want %s", plural.OneOf(o.Words))
		}
		if to.Kind() == reflect.String {
			to.SetString(s)
			return nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		to.SetInt(n)
		return err
	}
}

// Parse returns a Set for a field whose type has a parser.
func Parse[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) (err error) {
		*to, err = parse(s)
		return err
	}
}

// Append returns a Set for a list to which each value adds an element.
func Append[T any](to *[]T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		*to = append(*to, v)
		return err
	}
}

// AtLeast returns a Check for a number whose zero value is a default.
func AtLeast[T int | int64](to *T, least T, want string) func() error {
	return func() error {
		if *to < least {
			return errors.New("want " + want)
		}
		return nil
	}
}
