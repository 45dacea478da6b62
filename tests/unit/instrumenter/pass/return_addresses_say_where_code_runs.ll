; Where nobody profiles calls, a return address is where the caller really runs.
; RUN: %stab -passes=stab-own-addresses < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define ptr @caller(
; CHECK-NOT: @stab_rt
; CHECK: ret ptr %address
define ptr @caller() {
  %address = call ptr @llvm.returnaddress(i32 0)
  ret ptr %address
}

declare ptr @llvm.returnaddress(i32)
