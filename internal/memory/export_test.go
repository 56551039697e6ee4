package memory

// ExceededOf is what decides whether Make panics.
var ExceededOf = exceeded
