; Assembly that loads the stack pointer may lead to a stack that is an array in a frame. The runtime is told of what such assembly
; gets in registers, and of the frames of functions that have an array, in modules that have such assembly, also at file scope.
; Pads are assembly that leads to no other stack.
; RUN: %stab -passes=stab-stacks-in-frames < %s | %check
; RUN: sed '/asm sideeffect/s/%rsp/%rax/' %s | %stab -passes=stab-stacks-in-frames | %check --check-prefix=NONE
; RUN: sed '/asm sideeffect/s/%rsp/%rax/' %s | %stab -passes='stab-pads<all>,stab-stacks-in-frames' | %check --check-prefix=NONE
; RUN: sed 's/^; AT-FILE-SCOPE //; /asm sideeffect/s/%rsp/%rax/' %s | %stab -passes=stab-stacks-in-frames | %check --check-prefix=FILE

target triple = "x86_64-unknown-linux-gnu"

; AT-FILE-SCOPE module asm "change: movq %rsi, %rsp"

; NONE-NOT: @stab_rt_

; CHECK-LABEL: define void @on_stack(
; CHECK: icmp ne ptr @stab_rt_clone_stack, null
; CHECK: call void @stab_rt_clone_stack(ptr %end)
; CHECK-NOT: call void @stab_rt_clone_stack(
; CHECK: call void asm sideeffect
define void @on_stack(ptr %end, i32 %number, ptr %kept) {
  call void asm sideeffect "movq $1, %rsp; movl $2, $0", "=*m,r,r"(ptr elementtype(i32) %kept, ptr %end, i32 %number)
  ret void
}

; CHECK-LABEL: define void @has_array(
; CHECK: call void @stab_rt_frame_of_stacks()
; CHECK: call void @uses(
; FILE-LABEL: define void @has_array(
; FILE: call void @stab_rt_frame_of_stacks()
define void @has_array() {
  %array = alloca [1024 x i8]
  call void @uses(ptr %array)
  ret void
}

; CHECK-LABEL: define void @has_none(
; CHECK-NOT: call void @stab_rt_
; CHECK: ret void
define void @has_none() {
  %array = alloca [1000 x i8]
  call void @uses(ptr %array)
  ret void
}

declare void @uses(ptr)
