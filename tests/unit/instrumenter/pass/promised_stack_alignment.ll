; -mstack-alignment=64: frames are laid out as if the stack pointer were always a multiple of 64: pads are multiples of it, too.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: sed 's/i32 64}/i32 16}/' %s | %stab -passes='stab-pads<all>' | %check --check-prefix=USUAL
; RUN: sed 's/i32 64}/i32 2048}/' %s | %stab -passes='stab-pads<all>' | %check --check-prefix=WIDE

target triple = "x86_64-unknown-linux-gnu"

declare void @callee(ptr)

; CHECK-LABEL: @local(
; CHECK: %[[PAD:.*]] = load volatile i16
; CHECK: and i16 %[[PAD]], -64
; CHECK: %stab.moves = alloca {}, align 64
; USUAL-LABEL: @local(
; USUAL: load volatile i16
; USUAL-NOT: and i16
; USUAL: %stab.moves = alloca {}, align 16
; WIDE-LABEL: @local(
; WIDE-NOT: stab.moves
; WIDE: ret void
define void @local() {
  %local = alloca <8 x float>, align 32
  call void @callee(ptr %local)
  ret void
}

; By an attribute of the function: what it calls may count on it, whatever the others do.
; USUAL-LABEL: @promises_more(
; USUAL-NOT: stab.moves
; USUAL: ret void
; CHECK-LABEL: @promises_more(
; CHECK: stab.moves
define void @promises_more() alignstack(64) {
  call void @callee(ptr null)
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"override-stack-alignment", i32 64}
