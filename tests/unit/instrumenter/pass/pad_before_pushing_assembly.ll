; What one piece of assembly pushes another may pop, so the pad doesn't come between them.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()

; CHECK-LABEL: @pushes(
; CHECK: stab.moves
; CHECK: pushq
; CHECK: call void @callee
; CHECK: popq
define void @pushes(i64 %x) {
  call void asm sideeffect "pushq $0; pushq $0", "r"(i64 %x)
  call void @callee()
  call void asm sideeffect "popq %rax; popq %rax", "~{rax}"()
  ret void
}

; In a block of its own, and by the register's name.
; CHECK-LABEL: @lowers_the_stack_pointer(
; CHECK: stab.moves
; CHECK: sub $$64, %rsp
; CHECK: call void @callee
define void @lowers_the_stack_pointer(i1 %c) {
  br i1 %c, label %lower, label %call
lower:
  call void asm sideeffect "sub $$64, %rsp", ""()
  br label %call
call:
  call void @callee()
  call void asm sideeffect "add $$64, %rsp", ""()
  ret void
}

; As an operand.
; CHECK-LABEL: @sets_the_stack_pointer(
; CHECK: stab.moves
; CHECK: ={rsp}
; CHECK: call void @callee
define void @sets_the_stack_pointer(i64 %x) {
  %r = call i64 asm sideeffect "", "={rsp},{rsp}"(i64 %x)
  call void @callee()
  ret void
}

; Neither pushes nor pops.
; CHECK-LABEL: @counts_bits(
; CHECK: popcntq
; CHECK: stab.moves
; CHECK: call void @callee
define void @counts_bits(i64 %x) {
  %r = call i64 asm sideeffect ".pushsection .note; .popsection; popcntq $1, $0", "=r,r"(i64 %x)
  call void @callee()
  ret void
}
