; Where setjmp returned 0, a function of the module is called that may return, or leave by a variable of the program's: if that is another
; than the one that setjmp has filled, coroutines take turns. By the same one errors are handled, and so they are by a buffer that it
; computes.
; RUN: %stab -passes=stab-jump-switches < %s | %check
; RUN: sed '/@longjmp(ptr @scheduler/s/@scheduler/@places/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@longjmp(ptr @scheduler/s/@scheduler/%computed/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/call void @leaves/d' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: private constant i8 1, section "stab_jump_switches"
; NONE-NOT: section "stab_jump_switches"

@places = global [4 x [25 x i64]] zeroinitializer
@scheduler = global [25 x i64] zeroinitializer

declare i32 @setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn

define void @leaves(i1 %may, ptr %table) noinline {
  %computed = load ptr, ptr %table
  br i1 %may, label %away, label %on
away:
  call void @longjmp(ptr @scheduler, i32 1)
  unreachable
on:
  ret void
}

define i32 @yield(i64 %which, ptr %table) {
  %place = getelementptr [25 x i64], ptr @places, i64 %which
  %result = call i32 @setjmp(ptr %place)
  %is_zero = icmp eq i32 %result, 0
  br i1 %is_zero, label %away, label %back
away:
  call void @leaves(i1 true, ptr %table)
  ret i32 -1
back:
  ret i32 %result
}
