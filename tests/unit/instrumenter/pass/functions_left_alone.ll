; Functions whose frame is not ours to move.
; RUN: %stab -passes='stab-pads<all>' < %s | %check --implicit-check-not=stab_pad

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()
declare void @inalloca_callee(ptr inalloca(i32))
@dispatched = ifunc void (), ptr @resolver

; CHECK-LABEL: @naked
define void @naked() naked {
  call void @callee()
  unreachable
}

; CHECK-LABEL: @elsewhere
define available_externally void @elsewhere() {
  call void @callee()
  ret void
}

; CHECK-LABEL: @coroutine
define void @coroutine() presplitcoroutine {
  call void @callee()
  ret void
}

; CHECK-LABEL: @asked_for
define void @asked_for() disable_sanitizer_instrumentation {
  call void @callee()
  ret void
}

; CHECK-LABEL: @sanitized
define void @sanitized() sanitize_address {
  call void @callee()
  ret void
}

; CHECK-LABEL: @collected
define void @collected() gc "statepoint-example" {
  call void @callee()
  ret void
}

; CHECK-LABEL: @on_split_stack
define void @on_split_stack() "split-stack" {
  call void @callee()
  ret void
}

; CHECK-LABEL: @haskell
define ghccc void @haskell() {
  call void @callee()
  ret void
}

; CHECK-LABEL: @argument_block
define void @argument_block() {
  %block = alloca inalloca i32
  call void @inalloca_callee(ptr inalloca(i32) %block)
  ret void
}

; CHECK-LABEL: @frame_pointer_is_a_register
define void @frame_pointer_is_a_register() {
  call void asm sideeffect "xorq %rbp, %rbp", "~{rbp}"()
  call void @callee()
  ret void
}

; A frame that is aligned and whose size isn't fixed keeps its place in rbx.
; CHECK-LABEL: @base_pointer_is_written_to
define void @base_pointer_is_written_to() {
  call void asm sideeffect "movl $$1, %ebx", "~{rbx}"()
  call void @callee()
  ret void
}

; CHECK-LABEL: @base_pointer_is_an_operand
define void @base_pointer_is_an_operand() {
  %all = call { i32, i32, i32, i32 } asm "cpuid", "={ax},={bx},={cx},={dx},0,2"(i32 0, i32 0)
  call void @callee()
  ret void
}

; Runs before thread-local storage is ready.
; CHECK-LABEL: @resolver
define ptr @resolver() {
  call void @helper_of_resolver()
  ret ptr @naked
}

; CHECK-LABEL: @helper_of_resolver
define void @helper_of_resolver() {
  call void @callee()
  call void @callee()
  ret void
}

; What it saves of the stack begins at the place that it measures from.
; CHECK-LABEL: @measures
define i64 @measures(ptr %base) {
  %here = alloca i8
  call void @callee()
  call void @callee()
  %a = ptrtoint ptr %base to i64
  %b = ptrtoint ptr %here to i64
  %distance = sub i64 %a, %b
  ret i64 %distance
}

; CHECK-LABEL: @freestanding
define void @freestanding() "stab-no-pad" {
  call void @callee()
  ret void
}

; CHECK-LABEL: @padded_before
define void @padded_before() "stab-padded" {
  call void @callee()
  ret void
}
