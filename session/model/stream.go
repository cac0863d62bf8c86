package model

import (
	"errors"
	"iter"
)

// errLeft is what emit returns once the reader of a stream has left its loop.
// It never reaches that reader.
var errLeft = errors.New("the reader of the stream left")

// Events makes a provider's answer a stream that holds to the contract of
// Model: run passes on what arrives through emit, gives up as soon as that
// returns an error, and returns the end of the answer or why there is none.
// Done and errors come from its return only, so that each stream has one.
func Events(run func(emit func(Event) error) (Done, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		left := false
		done, err := run(func(ev Event) error {
			if left || !yield(ev, nil) {
				left = true
				return errLeft
			}
			return nil
		})
		switch {
		case left:
		case err != nil:
			yield(nil, err)
		default:
			yield(done, nil)
		}
	}
}
