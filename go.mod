module github.com/clgrad/clgrad

go 1.26

require (
	github.com/samuel/go-opencl v0.0.0-20171108220231-cbcfd10c32ad
	gonum.org/v1/gonum v0.17.0
)
