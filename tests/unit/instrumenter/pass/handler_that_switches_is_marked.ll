; A module with a signal handler that writes over the stack pointer in its context says so in a section that --gc-sections leaves.
; A handler that moves the stack pointer, or writes something else, is none; nor is a function whose address nobody takes.
; RUN: %stab -passes=stab-signal-switches < %s | %check
; RUN: sed '/^; COPY/,/^; END/d' %s | %stab -passes=stab-signal-switches | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

; CHECK: private constant i8 1, section "stab_signal_switches"
; CHECK: @llvm.used = appending global
; NONE-NOT: section "stab_signal_switches"

@saved = external global [184 x i8]
@handlers = global [2 x ptr] [ptr @resumes, ptr @calls]

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; COPY
define internal void @put(ptr %place) {
  %registers = getelementptr i8, ptr %place, i64 32
  call void @llvm.memcpy.p0.p0.i64(ptr %registers, ptr @saved, i64 184, i1 false)
  ret void
}

define void @on_alarm(i32 %number, ptr %info, ptr %context) {
  %variable = alloca ptr
  store ptr %context, ptr %variable
  %again = load ptr, ptr %variable
  %place = getelementptr i8, ptr %again, i64 8
  call void @put(ptr %place)
  ret void
}

@set = global ptr @on_alarm
; END

; Goes on behind the instruction, in another function: the instruction pointer lies behind the stack pointer.
define void @resumes(i32 %number, ptr %info, ptr %context) {
  %place = getelementptr i8, ptr %context, i64 168
  store i64 4096, ptr %place
  ret void
}

; Lets the thread call something: one word more on its own stack.
define void @calls(i32 %number, ptr %info, ptr %context) {
  %place = getelementptr i8, ptr %context, i64 160
  %old = load i64, ptr %place
  %new = sub i64 %old, 8
  store i64 %new, ptr %place
  ret void
}

; No handler.
define void @fills(i32 %number, ptr %info, ptr %context) {
  %place = getelementptr i8, ptr %context, i64 160
  store i64 4096, ptr %place
  ret void
}
