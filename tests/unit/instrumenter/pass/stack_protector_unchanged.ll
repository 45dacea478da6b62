; The pad's dynamic alloca must not be what gives a function a canary; one that has reason for it keeps it.
; RUN: %stab -passes='stab-pads<all>' < %s | %llc | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee(ptr)

; CHECK-LABEL: small:
; CHECK-NOT: __stack_chk_fail
; CHECK-LABEL: array:
; CHECK: __stack_chk_fail
define void @small() sspstrong {
  call void @callee(ptr null)
  ret void
}

define void @array() sspstrong {
  %local = alloca [64 x i8]
  call void @callee(ptr %local)
  ret void
}
