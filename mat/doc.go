// Package mat holds float32 matrices, dense (Dense, row-major) and sparse (CSR), with their products, factorisations,
// eigenvalues and singular vectors.
//
// The destination comes first and takes its shape from the operands. The zero value is a destination, and a reused one
// allocates nothing. A destination must not alias an operand unless a comment says so. Wrong shapes are bugs of the
// caller and panic with the numbers; nothing panics on numbers.
//
// Products run on all threads. Each output element is summed in an order that only the sizes decide, so any number of
// threads gives the same bits. Gram matrices and factorisations are float64: forming XᵀX squares the condition number.
package mat
