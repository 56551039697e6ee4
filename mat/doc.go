// Package mat holds float32 matrices, dense (Dense, row-major) and sparse (CSR), with the products and the
// factorisations that the steps of the method need.
//
// Conventions: the destination comes first and takes its shape from the operands, so the zero value is a destination
// and a reused one allocates nothing. A destination must not alias an operand unless a comment says it may. Wrong
// shapes are a bug of the caller and panic with the numbers. Products run on all threads (runtime.GOMAXPROCS); each
// output element is summed in an order that the sizes alone decide, so any number of threads gives the same bits. Gram
// matrices and factorisations are float64: forming XᵀX squares the condition number.
package mat
