//go:build ignore

package table

//op:listed linalg.Cross torch.linalg.cross
//op:listed linalg.Cholesky torch.linalg.cholesky
//op:listed linalg.Solve torch.linalg.solve
//op:listed linalg.SolveTriangular torch.linalg.solve_triangular
//op:listed linalg.Inv torch.linalg.inv
//op:listed linalg.Det torch.linalg.det
//op:listed linalg.SlogDet torch.linalg.slogdet
//op:listed linalg.QR torch.linalg.qr
//op:listed linalg.SVD torch.linalg.svd
//op:listed linalg.Eigh torch.linalg.eigh
