; A module with a function that saves where it is by setjmp and leaves by another buffer, where setjmp returned 0, says so in a
; section that --gc-sections leaves. Who leaves by the buffer that it has filled, where setjmp returned something else, or with a
; buffer in its own frame handles errors. A function of the module that ends in longjmp leaves by what it is given.
; RUN: %stab -passes=stab-jump-switches < %s | %check
; RUN: sed '/@longjmp(ptr %to/s/%to/%from/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/br i1 %is_back/s/label %back, label %away/label %away, label %back/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@setjmp(ptr %from/s/%from/%own/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@longjmp(ptr %to/s/@longjmp(ptr %to/@leave_by(i32 7, ptr %to/' %s | %stab -passes=stab-jump-switches | %check
; RUN: sed '/@longjmp(ptr %to/s/@longjmp(ptr %to/@leave_by(i32 7, ptr %from/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE
; RUN: sed '/@longjmp(ptr %to/s/@longjmp(ptr %to/@may_return(ptr %to/' %s | %stab -passes=stab-jump-switches | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: private constant i8 1, section "stab_jump_switches"
; CHECK: @llvm.used = appending global
; NONE-NOT: section "stab_jump_switches"

@handler = external global [25 x i64]

declare i32 @setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn

define void @leave_by(i32 %why, ptr %place, i32 %value) {
  call void @longjmp(ptr %place, i32 %value)
  unreachable
}

define void @may_return(ptr %place, i32 %value) {
  %is_error = icmp ne i32 %value, 0
  br i1 %is_error, label %error, label %end
error:
  call void @longjmp(ptr %place, i32 %value)
  unreachable
end:
  ret void
}

define void @yield(ptr %from, ptr %to) {
  %own = alloca [25 x i64]
  %variable = alloca i32
  %result = call i32 @setjmp(ptr %from)
  store i32 %result, ptr %variable
  %value = load i32, ptr %variable
  %is_back = icmp ne i32 %value, 0
  br i1 %is_back, label %back, label %away
away:
  call void @longjmp(ptr %to, i32 1)
  unreachable
back:
  ret void
}

; An error in the middle of what handles errors, and one that is passed on.
define void @handles_errors(ptr %outer) {
  %result = call i32 @setjmp(ptr @handler)
  switch i32 %result, label %error [i32 0, label %work]
work:
  call void @longjmp(ptr @handler, i32 2)
  unreachable
error:
  call void @longjmp(ptr %outer, i32 3)
  unreachable
}
