module github.com/clgrad/clgrad

go 1.26

require (
	github.com/samuel/go-opencl v0.0.0-20171108220231-cbcfd10c32ad
	github.com/sbinet/npyio v0.6.0
	gonum.org/v1/gonum v0.17.0
)
