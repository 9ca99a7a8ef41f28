package images

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
)

// Folder is pictures in folders, one for each class: torchvision's ImageFolder.
type Folder struct {
	Classes []string   // names of the folders, sorted
	Paths   []string   // of the pictures: class by class, folder by folder within, sorted by name
	Labels  data.Array // Int64 [pictures]: the place of each picture's class in Classes
}

// extensions are those of files that are pictures.
var extensions = []string{".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"}

// formatError is a tensor.ErrFormat that says what is wrong in its own words.
type formatError string

func (e formatError) Error() string { return string(e) }

func (e formatError) Unwrap() error { return tensor.ErrFormat }

// OpenFolder lists the pictures in a folder: those of a class lie in a folder in it, or in folders in
// that. Links are followed. Files with another extension than those of pictures, and files that lie in
// no class, are not listed; contents are read later. A folder without classes, and a class without
// pictures, are an error that wraps tensor.ErrFormat and names it.
func OpenFolder(root string) (*Folder, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("images: open folder: %w", err)
	}
	f := &Folder{}
	for _, e := range entries { // sorted by name
		if info, err := os.Stat(filepath.Join(root, e.Name())); err == nil && info.IsDir() {
			f.Classes = append(f.Classes, e.Name())
		}
	}
	if len(f.Classes) == 0 {
		return nil, fmt.Errorf("images: open folder %s: %w", root, formatError("there is no folder of a class in it"))
	}
	var labels []int64
	for label, class := range f.Classes {
		found := map[string][]string{}
		if err := list(filepath.Join(root, class), nil, found); err != nil {
			return nil, fmt.Errorf("images: open folder: %w", err)
		}
		before := len(f.Paths)
		folders := make([]string, 0, len(found))
		for folder := range found {
			folders = append(folders, folder)
		}
		slices.Sort(folders)
		for _, folder := range folders {
			for _, name := range found[folder] {
				f.Paths, labels = append(f.Paths, filepath.Join(folder, name)), append(labels, int64(label))
			}
		}
		if len(f.Paths) == before {
			return nil, fmt.Errorf("images: open folder %s: %w", root,
				formatError(fmt.Sprintf("class %q has no picture: files end in %s", class, strings.Join(extensions, ", "))))
		}
	}
	f.Labels = data.New(labels)
	return f, nil
}

// list puts the names of the pictures in a folder, and in folders in it, into found by folder. Within
// are the folders that it lies in.
func list(folder string, within []os.FileInfo, found map[string][]string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(within, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
		return &fs.PathError{Op: "list", Path: folder, Err: formatError("the link leads to a folder that it lies in")}
	}
	within = append(within[:len(within):len(within)], info)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil && e.Type()&fs.ModeSymlink != 0: // it leads nowhere
		case err != nil:
			return err
		case info.IsDir():
			if err := list(path, within, found); err != nil {
				return err
			}
		case slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))):
			found[folder] = append(found[folder], e.Name())
		}
	}
	return nil
}

// Options says how pictures become of one size.
type Options struct {
	Height, Width int // of a picture in a batch; required

	// Resize is how long the shorter side becomes before the middle is cut out: at least as long as
	// Height and Width. 0: the picture is resized to Height × Width, whatever its proportions.
	Resize int

	Filter  Filter // Bilinear if nothing is said
	Gray    bool   // pictures have one channel; otherwise red, green and blue
	Workers int    // of data.Transform
}

// Transform reads the folder's pictures for a loader of its Labels: a batch is pictures, Uint8 [n, 3,
// Height, Width], or [n, 1, Height, Width] if Gray, and labels, Int64 [n]. It panics with
// tensor.ErrValue for Options that are not possible. What is wrong with a file is the error of
// [data.Loader.Err], and names it.
func (f *Folder) Transform(o Options) *data.Transform {
	const op = "Transform"
	if o.Height < 1 || o.Width < 1 || int64(o.Height)*int64(o.Width) > mostPixels || o.Filter > Bicubic {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("%+v: Height and Width are 1 or more, and Filter is Bilinear or Bicubic", o)))
	}
	if o.Resize != 0 && o.Resize < max(o.Height, o.Width) {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("Options.Resize is %d, and a window of %d × %d is cut out of that", o.Resize, o.Height, o.Width)))
	}
	channels := 3
	if o.Gray {
		channels = 1
	}
	return &data.Transform{
		Makes:   []data.Array{data.New([]uint8{}, 0, channels, o.Height, o.Width), data.New([]int64{})},
		Workers: o.Workers,
		Do: func(e data.Example) error {
			if e.Row >= len(f.Paths) {
				panic(misuse(op, tensor.ErrShape, fmt.Sprintf("row %d of %d pictures: the loader is of the folder's Labels", e.Row, len(f.Paths))))
			}
			p, err := read(e.Context, f.Paths[e.Row])
			if err != nil {
				return err
			}
			if p, err = o.fit(p); err != nil {
				return fmt.Errorf("images: %w", &fs.PathError{Op: "resize", Path: f.Paths[e.Row], Err: err})
			}
			p.planes(data.Elements[uint8](e.Out[0]))
			data.Elements[int64](e.Out[1])[0] = data.Elements[int64](f.Labels)[e.Row]
			return nil
		},
	}
}

// fit returns a picture in the size and the channels of the options.
func (o Options) fit(p *Picture) (*Picture, error) {
	if o.Gray {
		p = p.Gray()
	}
	if o.Resize == 0 {
		return p.Resize(o.Height, o.Width, o.Filter), nil
	}
	long, short := int64(max(p.Width, p.Height)), int64(min(p.Width, p.Height))
	if n := int64(o.Resize); n > mostPixels || n*n > mostPixels*short/long {
		return nil, fmt.Errorf("%w: %d × %d pixels, with the shorter side %d long, are more than %d", ErrImage, p.Width, p.Height, n, mostPixels)
	}
	return p.ResizeShorter(o.Resize, o.Filter).CenterCrop(o.Height, o.Width), nil
}
