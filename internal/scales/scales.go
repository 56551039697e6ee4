// Package scales says when the columns of a matrix differ too much in scale.
package scales

// Most is the largest ratio of norms for which columns need no scaling.
//
// In least squares, a direction of the matrix counts if its singular value exceeds 3·10⁻⁴ of the Frobenius norm. If one
// column is 3000 times as large as the others, no other direction counts. Directions are lost from a ratio of about
// 1000. In the public data sets, the ratio is at most 20.
const Most = 256
