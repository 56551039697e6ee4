package condensetest

var Violations = violations
