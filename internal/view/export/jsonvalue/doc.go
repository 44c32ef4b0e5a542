// Package jsonvalue writes the values of features as JSON, for the formats that have JSON in them.
//
//	var v jsonvalue.Value
//	b, err := v.Append(nil, feature, true, false)
//
// Features flow in, text flows out, a part at a time if the caller drains it. A float32 always
// comes back as the same one, and bytes that are not text are never written as text.
package jsonvalue
