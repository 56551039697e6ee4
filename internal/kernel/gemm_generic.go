package kernel

// tileGeneric is the micro-kernel on tiles of 2×4, with rs=1 and cs=2. Eight sums fit in the registers, with room for
// the factors. Unrolling the loop four times keeps the compiler from moving the sums, and is more than twice as fast.
func tileGeneric(c []float32, ldc int, a []float32, _, _ int, b []float32, m, n, k, _ int, accumulate bool) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a, b = a[:2*k], b[:4*k]
	for len(a) >= 8 && len(b) >= 16 {
		s00 += float32(a[0] * b[0])
		s10 += float32(a[1] * b[0])
		s01 += float32(a[0] * b[1])
		s11 += float32(a[1] * b[1])
		s02 += float32(a[0] * b[2])
		s12 += float32(a[1] * b[2])
		s03 += float32(a[0] * b[3])
		s13 += float32(a[1] * b[3])
		s00 += float32(a[2] * b[4])
		s10 += float32(a[3] * b[4])
		s01 += float32(a[2] * b[5])
		s11 += float32(a[3] * b[5])
		s02 += float32(a[2] * b[6])
		s12 += float32(a[3] * b[6])
		s03 += float32(a[2] * b[7])
		s13 += float32(a[3] * b[7])
		s00 += float32(a[4] * b[8])
		s10 += float32(a[5] * b[8])
		s01 += float32(a[4] * b[9])
		s11 += float32(a[5] * b[9])
		s02 += float32(a[4] * b[10])
		s12 += float32(a[5] * b[10])
		s03 += float32(a[4] * b[11])
		s13 += float32(a[5] * b[11])
		s00 += float32(a[6] * b[12])
		s10 += float32(a[7] * b[12])
		s01 += float32(a[6] * b[13])
		s11 += float32(a[7] * b[13])
		s02 += float32(a[6] * b[14])
		s12 += float32(a[7] * b[14])
		s03 += float32(a[6] * b[15])
		s13 += float32(a[7] * b[15])
		a, b = a[8:], b[16:]
	}
	for len(a) >= 2 && len(b) >= 4 {
		s00 += float32(a[0] * b[0])
		s10 += float32(a[1] * b[0])
		s01 += float32(a[0] * b[1])
		s11 += float32(a[1] * b[1])
		s02 += float32(a[0] * b[2])
		s12 += float32(a[1] * b[2])
		s03 += float32(a[0] * b[3])
		s13 += float32(a[1] * b[3])
		a, b = a[2:], b[4:]
	}
	s := [2][4]float32{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		for j := range row {
			if accumulate {
				row[j] += s[i][j]
			} else {
				row[j] = s[i][j]
			}
		}
	}
}

func copyPanelGeneric(dst, src []float32, lds, rows, columns int) {
	for p := range rows {
		copy(dst[p*columns:][:columns], src[p*lds:])
	}
}

// transposeGeneric sets dst[j·ldd+i] = src[i·lds+j] for i<rows, j<columns. It processes a few rows at once, so that
// writes stay in few cache lines.
func transposeGeneric(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	i := 0
	for ; i+4 <= rows; i += 4 {
		s0, s1, s2, s3 := src[i*lds:][:columns], src[(i+1)*lds:][:columns], src[(i+2)*lds:][:columns],
			src[(i+3)*lds:][:columns]
		at := i
		for j, v := range s0 {
			d := dst[at : at+4 : at+4]
			d[0], d[1], d[2], d[3] = v, s1[j], s2[j], s3[j]
			at += ldd
		}
	}
	for ; i < rows; i++ {
		at := i
		for _, v := range src[i*lds:][:columns] {
			dst[at] = v
			at += ldd
		}
	}
}
