; A module that makes code on the stack says so in a section that --gc-sections leaves, as lld doesn't look for .note.GNU-stack.
; RUN: %stab -passes=stab-stack-code < %s | %check
; RUN: sed '/call void @llvm.init/d' %s | %stab -passes=stab-stack-code | %check --check-prefix=NONE
; RUN: %stab -passes=stab-stack-code < %s | %llc -filetype=obj -o - | %readelf -SW - | %check --check-prefix=ELF

target triple = "x86_64-unknown-linux-gnu"

; CHECK: private constant i8 1, section "stab_stack_code"
; CHECK: @llvm.used = appending global
; NONE-NOT: stab_stack_code"
; ELF-NOT: .note.GNU-stack
; ELF: stab_stack_code PROGBITS {{.*}} 000001 00 AR
; ELF-NOT: .note.GNU-stack

declare void @llvm.init.trampoline(ptr, ptr, ptr)
declare i32 @inner(ptr nest)

define void @outer(ptr %place, ptr %frame) {
  call void @llvm.init.trampoline(ptr %place, ptr @inner, ptr %frame)
  ret void
}
