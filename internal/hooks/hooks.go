// Package hooks holds what public packages offer other packages of this module, and programs not. A
// public package sets its hook; an internal package above it gives the hook a type and documents
// it.
package hooks

// Tensor is package tensor's tensorapi.API.
var Tensor any

// Autograd is the interface of package autograd for flatparams.
var Autograd any
