package planetoid

// Unpickle reads a pickle and then, as the readers do, what it may hold.
func Unpickle(data []byte) error {
	object, err := unpickle(data)
	if err != nil {
		return err
	}
	if m, ok := object.(*pickledCSR); ok {
		_, err = m.csr()
		return err
	}
	_, err = numbersOf[float32](object)
	return err
}
