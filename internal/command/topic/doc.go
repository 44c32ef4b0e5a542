// Package topic holds the long explanations of the command, which are about more than one verb or flag.
// tfrec help shows them, and the manual pages of section 7 and docs/cli have the same text:
//
//	t, ok := topic.Find("labels")
//	fmt.Print(t.Text)
//
// The first line of a file in text is the topic in a few words, and the rest is text as cli.Reflow takes
// it: paragraphs, headings (# Title) and indented tables and commands.
package topic
