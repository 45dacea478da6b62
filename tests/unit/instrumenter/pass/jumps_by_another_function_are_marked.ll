; A function that saves where it is by setjmp and calls another one where setjmp returned 0 leaves for another place, if it goes on
; alike whether that has returned or somebody has come back. Who handles errors does something else then, or passes a word on.
; A variable of the program's is no coroutine's buffer.
; RUN: %stab -passes=stab-jump-switches < %s | %check
; RUN: sed '/icmp eq/s/eq/ne/; /br i1 %is_zero/s/%away, label %idle/%idle, label %away/' %s | %stab -passes=stab-jump-switches | %check
; RUN: sed '/br i1 %is_zero/s/%idle/%error/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed 's/\[ 0, %idle \]/[ 1, %idle ]/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@work(i32 %word)/s/%word/%result/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/call void @schedule/d' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@setjmp(ptr %place/s/%place/@handler/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@setjmp(ptr %place/s/%place/%own/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: private constant i8 1, section "stab_jump_switches"
; NONE-NOT: section "stab_jump_switches"

@handler = external global [25 x i64]

declare i32 @setjmp(ptr) returns_twice
declare void @schedule()
declare void @fails()
declare void @work(i32)

define void @yield(ptr %place) {
  %own = alloca [25 x i64]
  %result = call i32 @setjmp(ptr %place)
  %is_zero = icmp eq i32 %result, 0
  br i1 %is_zero, label %away, label %idle
away:
  call void @schedule()
  br label %on
idle:
  br label %on
error:
  call void @fails()
  br label %on
on:
  %word = phi i32 [ 0, %away ], [ 0, %idle ], [ 0, %error ]
  call void @work(i32 %word)
  ret void
}
