// Package mat provides float32 matrices, dense (Dense, row-major) and sparse (CSR), with their products.
//
// The destination is the first argument, and its shape is set from the operands. The zero value is a valid destination,
// and a reused one avoids allocation. A destination must not alias an operand unless a comment says so. Wrong shapes
// are bugs of the caller and cause a panic that names the sizes. The values in a matrix never cause a panic.
//
// Products run on all threads. The order in which each output element is summed depends only on the sizes, so results
// are bit-identical for any number of threads.
package mat
