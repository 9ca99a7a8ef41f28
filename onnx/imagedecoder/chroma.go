package imagedecoder

import "image"

// ycc returns the pixels of a picture in luma and chroma. The chroma of JPEG is interpolated as the specification of
// ImageDecoder says; that of WebP as its reference decoder does, where luma is of 16 to 235.
func ycc(p *image.YCbCr, kind string) []byte {
	b := p.Bounds()
	w, h := b.Dx(), b.Dy()
	cb, cr := upsampled(p, p.Cb, kind), upsampled(p, p.Cr, kind)
	out := make([]byte, 0, 3*w*h)
	for y := range h {
		luma := p.Y[p.YOffset(b.Min.X, b.Min.Y+y):]
		for x := range w {
			if kind == "webp" {
				out = videoRGB(out, int(luma[x]), int(cb[y*w+x]), int(cr[y*w+x]))
			} else {
				out = fullRGB(out, int(luma[x]), int(cb[y*w+x])-128, int(cr[y*w+x])-128)
			}
		}
	}
	return out
}

// fullRGB appends a pixel of JFIF: r = y + 1.402·cr and so on, in 16 bits of fraction.
func fullRGB(out []byte, y, cb, cr int) []byte {
	const half = 1 << 15
	return append(out, clip(y+(91881*cr+half)>>16), clip(y+(-22554*cb-46802*cr+half)>>16), clip(y+(116130*cb+half)>>16))
}

// videoRGB appends a pixel of ITU-R 601 video: r = 1.164·(y − 16) + 1.596·(cr − 128) and so on, in 6 bits of
// fraction.
func videoRGB(out []byte, y, cb, cr int) []byte {
	y = y * 19077 >> 8
	return append(out, clip((y+cr*26149>>8-14234)>>6), clip((y-cb*6419>>8-cr*13320>>8+8708)>>6),
		clip((y+cb*33050>>8-17685)>>6))
}

func clip(x int) byte { return byte(min(max(x, 0), 255)) }

// upsampled returns a plane of chroma at each pixel.
func upsampled(p *image.YCbCr, plane []byte, kind string) []byte {
	b := p.Bounds()
	w, h := b.Dx(), b.Dy()
	row := func(y int) []byte { return plane[y*p.CStride:] }
	out := make([]byte, w*h)
	cw, ch := (w+1)/2, (h+1)/2 // of a plane that is half as wide, or as high
	even := b.Min.X == 0 && b.Min.Y == 0
	switch {
	case p.SubsampleRatio == image.YCbCrSubsampleRatio420 && kind == "webp" && even:
		for y := range h {
			far := min(max(y/2+y%2*2-1, 0), ch-1)
			between(out[y*w:(y+1)*w], row(y / 2)[:cw], row(far)[:cw])
		}
	case p.SubsampleRatio == image.YCbCrSubsampleRatio420 && even && cw > 2:
		sums := make([]int, cw)
		for y := range h {
			near, far := row(y/2), row(min(max(y/2+y%2*2-1, 0), ch-1))
			for x := range sums {
				sums[x] = 3*int(near[x]) + int(far[x])
			}
			widened(out[y*w:(y+1)*w], sums, 4, 8, 7)
		}
	case p.SubsampleRatio == image.YCbCrSubsampleRatio422 && even && cw > 2:
		sums := make([]int, cw)
		for y := range h {
			for x := range sums {
				sums[x] = int(row(y)[x])
			}
			widened(out[y*w:(y+1)*w], sums, 2, 1, 2)
		}
	case p.SubsampleRatio == image.YCbCrSubsampleRatio440 && even:
		for y := range h {
			near, far := row(y/2), row(min(max(y/2+y%2*2-1, 0), ch-1))
			for x := range w {
				out[y*w+x] = byte((3*int(near[x]) + int(far[x]) + 1 + y%2) >> 2)
			}
		}
	default:
		for y := range h {
			for x := range w {
				out[y*w+x] = plane[p.COffset(b.Min.X+x, b.Min.Y+y)]
			}
		}
	}
	return out
}

// widened writes a row of twice as many elements: each is 3/4 of its sample and 1/4 of the one that is next on its
// side.
// Samples are sums with some bits of fraction; what is added before these are dropped is down for even elements, and up
// for odd ones.
func widened(out []byte, sums []int, bits, down, up int) {
	last := len(sums) - 1
	for x := range out {
		k, add := x/2, down
		other := k - 1
		if x%2 == 1 {
			other, add = k+1, up
		}
		if other < 0 || other > last {
			other = k
		}
		out[x] = byte((3*sums[k] + sums[other] + add) >> bits)
	}
}

// between writes a row of chroma between two rows of samples, of which near is the closer one: 9/16 of the nearest
// sample, 3/16 of both beside it and 1/16 of the one across.
func between(out, near, far []byte) {
	last := len(near) - 1
	for x := range out {
		k := x / 2
		other := k - 1 + x%2*2
		n, v := int(near[k]), int(far[k])
		if other < 0 || other > last {
			out[x] = byte((3*n + v + 2) >> 2)
			continue
		}
		h, d := int(near[other]), int(far[other])
		out[x] = byte(((n+h+v+d+8+2*(h+v))>>3 + n) >> 1)
	}
}
