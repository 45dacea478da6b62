; Before a stack is given to makecontext, sigaltstack or clone, the runtime is told of it, where there is one. If what sigaltstack
; reads may be unreadable, it is told afterwards that there is one. So it is of main's frame if that has an array. Resolvers of
; IFUNCs can't call it.
; RUN: %stab -passes=stab-stacks-in-frames < %s | %check

target triple = "x86_64-unknown-linux-gnu"

@chosen = ifunc i32 (), ptr @resolve

; CHECK-LABEL: define void @make(
; CHECK: icmp ne ptr @stab_rt_context_stack, null
; CHECK: call void @stab_rt_context_stack(ptr %context)
; CHECK: call void (ptr, ptr, i32, ...) @makecontext(
define void @make(ptr %context, ptr %function) {
  call void (ptr, ptr, i32, ...) @makecontext(ptr %context, ptr %function, i32 1, i32 7)
  ret void
}

; CHECK-LABEL: define i32 @use(
; CHECK: icmp ne ptr @stab_rt_signal_stack, null
; CHECK: call void @stab_rt_signal_stack(ptr %stack)
; CHECK: call i32 @sigaltstack(ptr %stack, ptr null)
define i32 @use() {
  %stack = alloca [24 x i8]
  %result = call i32 @sigaltstack(ptr %stack, ptr null)
  ret i32 %result
}

; CHECK-LABEL: define i32 @use_of_another(
; CHECK-NEXT: {{^}}  %result = call i32 @sigaltstack(ptr %stack, ptr %old)
; CHECK-NEXT: icmp ne ptr @stab_rt_signal_stack_set, null
; CHECK: call void @stab_rt_signal_stack_set()
define i32 @use_of_another(ptr %stack, ptr %old) {
  %result = tail call i32 @sigaltstack(ptr %stack, ptr %old)
  ret i32 %result
}

; CHECK-LABEL: define i32 @ask(
; CHECK-NEXT: tail call i32 @sigaltstack(ptr null, ptr %old)
; CHECK-NEXT: ret
define i32 @ask(ptr %old) {
  %result = tail call i32 @sigaltstack(ptr null, ptr %old)
  ret i32 %result
}

; CHECK-LABEL: define i32 @child(
; CHECK: call void @stab_rt_clone_stack(ptr %end)
; CHECK: call i32 (ptr, ptr, i32, ptr, ...) @clone(
define i32 @child(ptr %function, ptr %end) {
  %result = call i32 (ptr, ptr, i32, ptr, ...) @clone(ptr %function, ptr %end, i32 17, ptr null)
  ret i32 %result
}

; CHECK-LABEL: define i32 @main(
; CHECK: %array = alloca
; CHECK: %number = alloca
; CHECK-NEXT: icmp ne ptr @stab_rt_frame_of_stacks, null
; CHECK: call void @stab_rt_frame_of_stacks()
; CHECK: store i32 1
define i32 @main() {
  %array = alloca [1024 x i8]
  %number = alloca i32
  store i32 1, ptr %number
  ret i32 0
}

; CHECK-LABEL: define ptr @resolve(
; CHECK-NEXT: call i32 @sigaltstack(
define ptr @resolve() {
  %result = call i32 @sigaltstack(ptr null, ptr null)
  ret ptr null
}

; CHECK-DAG: declare extern_weak void @stab_rt_context_stack(ptr)
; CHECK-DAG: declare extern_weak void @stab_rt_signal_stack(ptr)
; CHECK-DAG: declare extern_weak void @stab_rt_signal_stack_set()
declare void @makecontext(ptr, ptr, i32, ...)
declare i32 @sigaltstack(ptr, ptr)
declare i32 @clone(ptr, ptr, i32, ptr, ...)
