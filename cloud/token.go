package cloud

import (
	"context"
	"net/http"
)

// endsPromptly ends requests when their contexts end, also those that wait for a token: Google's
// clients fetch one without the request's context.
type endsPromptly struct{ http.RoundTripper }

func (t endsPromptly) RoundTrip(r *http.Request) (*http.Response, error) {
	type result struct {
		answer *http.Response
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := t.RoundTripper.RoundTrip(r)
		done <- result{answer, err}
	}()
	select {
	case got := <-done:
		return got.answer, got.err
	case <-r.Context().Done():
		go func() {
			if got := <-done; got.err == nil {
				got.answer.Body.Close()
			}
		}()
		return nil, context.Cause(r.Context())
	}
}
