; -mstack-alignment=64: frames are laid out as if the stack pointer were always a multiple of 64, which a pad would break.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: sed 's/i32 64}/i32 16}/' %s | %stab -passes='stab-pads<all>' | %check --check-prefix=USUAL

target triple = "x86_64-unknown-linux-gnu"

declare void @callee(ptr)

; CHECK-LABEL: @local(
; CHECK-NOT: stab.moves
; CHECK: ret void
; USUAL-LABEL: @local(
; USUAL: stab.moves
define void @local() {
  %local = alloca <8 x float>, align 32
  call void @callee(ptr %local)
  ret void
}

; By an attribute of the function: what it calls may count on it, whatever the others do.
; USUAL-LABEL: @promises_more(
; USUAL-NOT: stab.moves
; USUAL: ret void
define void @promises_more() alignstack(64) {
  call void @callee(ptr null)
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"override-stack-alignment", i32 64}
