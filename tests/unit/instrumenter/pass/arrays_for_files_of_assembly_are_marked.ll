; A file of assembly may switch to a stack that is an array in a frame. An object is marked that keeps the address of such an array, or
; passes it to a function that isn't libc's. One that only libc gets, a short one, and main's, which is told in any case, are none.
; RUN: sed 's/^; KEPT //' %s | %stab -passes=stab-stacks-in-frames | %check
; RUN: sed 's/^; PASSED //' %s | %stab -passes=stab-stacks-in-frames | %check
; RUN: sed 's/^; NUMBER //' %s | %stab -passes=stab-stacks-in-frames | %check
; RUN: %stab -passes=stab-stacks-in-frames < %s | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: section "stab_stack_arrays"
; NONE-NOT: stab_stack_arrays

@kept = global ptr null

; KEPT define void @keeps() {
; KEPT   %array = alloca [1024 x i8]
; KEPT   %end = getelementptr i8, ptr %array, i64 1024
; KEPT   store ptr %end, ptr @kept
; KEPT   ret void
; KEPT }
; PASSED define void @passes() {
; PASSED   %array = alloca [1024 x i8]
; PASSED   call void @takes(ptr %array)
; PASSED   ret void
; PASSED }
; NUMBER define i64 @numbers() {
; NUMBER   %array = alloca [1024 x i8]
; NUMBER   %number = ptrtoint ptr %array to i64
; NUMBER   ret i64 %number
; NUMBER }

define i64 @measures() {
  %array = alloca [1024 x i8]
  store i8 0, ptr %array
  %length = call i64 @strlen(ptr %array)
  ret i64 %length
}
define void @passes_a_short_one() {
  %array = alloca [1000 x i8]
  call void @takes(ptr %array)
  ret void
}
define i32 @main() {
  %array = alloca [1024 x i8]
  call void @takes(ptr %array)
  ret i32 0
}

declare i64 @strlen(ptr)
declare void @takes(ptr)
