package memory

// ExceededOf decides whether Make panics.
var ExceededOf = exceeded
