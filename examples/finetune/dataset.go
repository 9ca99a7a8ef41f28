package main

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/picture"
	"github.com/clgrad/clgrad/tensor"
)

// sample is a picture, which is read when it is needed, and its class.
type sample struct {
	read     func() (*image.RGBA, error)
	class    int64
	features []float32
}

func classes(samples []*sample) []int64 {
	list := make([]int64, len(samples))
	for i, s := range samples {
		list[i] = s.class
	}
	return list
}

// dataset is the classes by name, and samples of them: every fourth of a class is for testing.
type dataset struct {
	names       []string
	train, test []*sample
}

func readDataset(path string) (*dataset, error) {
	list, names, err := readFolder(path)
	if strings.EqualFold(filepath.Ext(path), ".npz") {
		list, names, err = readArrays(path)
	}
	if err != nil {
		return nil, err
	}
	set, count := &dataset{names: names}, make([]int, len(names))
	for _, s := range list {
		if count[s.class]++; count[s.class]%4 == 0 {
			set.test = append(set.test, s)
		} else {
			set.train = append(set.train, s)
		}
	}
	if i := slices.IndexFunc(count, func(n int) bool { return n < 4 }); i >= 0 || len(names) < 2 {
		return nil, fmt.Errorf("%s has %d classes: it needs two or more, with four pictures or more each",
			path, len(names))
	}
	return set, nil
}

// readFolder takes the folders in a folder for classes, and the files in them for pictures.
func readFolder(root string) (list []*sample, names []string, err error) {
	folders, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() || strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(root, folder.Name()))
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			if file.Type().IsRegular() && !strings.HasPrefix(file.Name(), ".") {
				path := filepath.Join(root, folder.Name(), file.Name())
				read := func() (*image.RGBA, error) { return picture.Read(path) }
				list = append(list, &sample{read: read, class: int64(len(names))})
			}
		}
		names = append(names, folder.Name())
	}
	return list, names, nil
}

// readArrays takes images [n, height, width] of 0 to the largest number, and labels [n] of classes.
func readArrays(path string) (list []*sample, names []string, err error) {
	arrays, err := data.LoadNPZ(path)
	if err != nil {
		return nil, nil, err
	}
	images, ok := arrays["images"]
	labels, labelled := arrays["labels"]
	if !ok || !labelled || len(images.Shape()) != 3 || slices.Contains(images.Shape(), 0) ||
		!slices.Equal(labels.Shape(), images.Shape()[:1]) {
		return nil, nil, fmt.Errorf("%s has no images [n, height, width] with labels [n]", path)
	}
	h, w := images.Shape()[1], images.Shape()[2]
	pixels := data.Elements[float32](images.To(tensor.Float32))
	most := max(slices.Max(pixels), 1e-9)
	for i, label := range data.Elements[int64](labels.To(tensor.Int64)) {
		if label < 0 || label >= 10000 {
			return nil, nil, fmt.Errorf("%s has the label %d, and classes are 0 to 9999", path, label)
		}
		for int(label) >= len(names) {
			names = append(names, strconv.Itoa(len(names)))
		}
		gray := pixels[i*h*w : (i+1)*h*w]
		list = append(list, &sample{class: label, read: func() (*image.RGBA, error) {
			img := image.NewRGBA(image.Rect(0, 0, w, h))
			for k, v := range gray {
				img.Set(k%w, k/w, color.Gray{Y: uint8(min(max(255*v/most, 0), 255))})
			}
			return img, nil
		}})
	}
	return list, names, nil
}
