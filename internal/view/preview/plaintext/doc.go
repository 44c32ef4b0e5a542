// Package plaintext formats numbers, and the names, keys and values of a set, which are untrusted,
// as text for people.
//
//	plaintext.Shown(key, plaintext.MaxKeyText)
//	plaintext.Count(1204, "record") // 1,204 records
//
// Text of the data flows in, text that is fit to be shown flows out: of bounded length, without
// characters that are invisible or change the text around them. It is never escaped for HTML, which
// html/template does.
package plaintext
