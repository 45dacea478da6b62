; A module that handles exceptions says where to go on, and must know the copy that it is in.
; RUN: %stab -passes=stab-own-addresses < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i64 @routine(
; CHECK-NOT: @stab_rt
; CHECK: ret i64
define i64 @routine(ptr %context) {
  %address = call i64 @_Unwind_GetIP(ptr %context)
  call void @_Unwind_SetIP(ptr %context, i64 %address)
  ret i64 %address
}

declare i64 @_Unwind_GetIP(ptr)
declare void @_Unwind_SetIP(ptr, i64)
