package beam

import (
	"errors"
	"regexp"
	"strings"
)

// failure returns the job's error with its cause.
func (j *submitted) failure(err error) error {
	if j.pool != nil && strings.Contains(err.Error(), "SDK worker disconnected") {
		// The process failed.
		if end := j.pool.firstEnd(); end != nil {
			err = end
		}
	}
	return gaveUp(rootCause(err.Error()))
}

func gaveUp(cause string) error { return errors.New("the runner gave up: " + cause) }

var (
	// link matches the text before a cause: of the job, of an error of the SDK, or of a Java
	// exception. The traces of suppressed exceptions are indented.
	link = regexp.MustCompile(`(?m)\Ajob .* failed:$|\bcaused by:|^Caused by: `)
	// exception matches the beginning of a Java exception's text.
	exception = regexp.MustCompile(`^(?:[a-z_][\w$]*\.)+[A-Z][\w$]*: `)
)

// rootCause returns the last cause of a chain of errors in one line, without the classes of Java
// exceptions and without their trace, which --beam_log shows.
func rootCause(text string) string {
	if at := link.FindAllStringIndex(text, -1); at != nil {
		text = text[at[len(at)-1][1]:]
	}
	text = strings.TrimSpace(text)
	text, more, _ := strings.Cut(text, "\n")
	for cut := exception.FindString(text); cut != ""; cut = exception.FindString(text) {
		text = text[len(cut):]
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "CANCELLED: ") { // job servers report a broken connection like this; the job was not cancelled
		text = "a worker died, or lost its connection (" + text + ")"
	}
	if strings.TrimSpace(more) != "" {
		text += " (--beam_log error shows all that it said)"
	}
	return text
}
