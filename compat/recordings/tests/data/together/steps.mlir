util.global private @factor : tensor<32xf32>
util.initializer {
  %two = util.unfoldable_constant dense<4.0> : tensor<32xf32>
  %0 = math.sqrt %two : tensor<32xf32>
  util.global.store %0, @factor : tensor<32xf32>
  util.return
}
func.func @steps(%a: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = util.global.load @factor : tensor<32xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> tensor<32xf32> {
    %0 = arith.mulf %x, %f : tensor<32xf32>
    scf.yield %0 : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}
