module customfusion

go 1.26.0

require github.com/clgrad/clgrad v0.0.0

require (
	github.com/pbnjay/memory v0.0.0-20210728143218-7b4eea64cf58 // indirect
	github.com/samuel/go-opencl v0.0.0-20171108220231-cbcfd10c32ad // indirect
	github.com/sbinet/npyio v0.6.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/clgrad/clgrad => ../..
