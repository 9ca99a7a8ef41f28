package vec

// moreByteSets is a set without VNNI, where the processor has AVX2.
var moreByteSets = func() []*Set {
	if len(Sets()) == 0 {
		return nil
	}
	return []*Set{{name: "without VNNI", byteProducts: byteProductsAVX2}}
}()
