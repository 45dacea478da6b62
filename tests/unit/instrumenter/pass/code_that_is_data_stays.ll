; A function whose bytes the module reads or writes is in no list of functions that move, and gets no pad: where its address is
; given to memcpy, mprotect or ptrace, or is a place in a file, loaded from, stored to, also by a function of the module that it is given to or that hands it back, and
; through a variable.
; A pointer that is called, compared, kept in data, or that leads in front of the function changes nothing.
; RUN: %stab -passes=stab-code-as-data < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @copied() #[[data:[0-9]+]] {
; CHECK: define void @loaded() #[[data]] {
; CHECK: define void @written() #[[data]] {
; CHECK: define void @summed() #[[data]] {
; CHECK: define void @kept() #[[data]] {
; CHECK: define void @protected() #[[data]] {
; CHECK: define void @handed_back() #[[data]] {
; CHECK: define void @poked() #[[data]] {
; CHECK: define void @sought() #[[data]] {
; CHECK: define void @called() align 8 !pcsections
; CHECK: define void @passed_on() align 8 !pcsections
; CHECK: define void @described() align 8 !pcsections
; CHECK: define void @in_table() align 8 !pcsections
; CHECK: define i8 @sums(ptr %bytes) align 8 !pcsections
; CHECK: attributes #[[data]] = {{.*}}"stab-code-is-data" "stab-no-pad"

define void @copied() {
  ret void
}
define void @loaded() {
  ret void
}
define void @written() {
  ret void
}
define void @summed() {
  ret void
}
define void @kept() {
  ret void
}
define void @protected() {
  ret void
}
define void @handed_back() {
  ret void
}
define void @poked() {
  ret void
}
define void @sought() {
  ret void
}
define ptr @hands_back(ptr %address) {
  ret ptr %address
}
define void @called() {
  ret void
}
define void @passed_on() {
  ret void
}
define void @described() {
  ret void
}
define void @in_table() {
  ret void
}
@table = constant [1 x ptr] [ptr @in_table]

define i8 @sums(ptr %bytes) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %bytes, %entry ], [ %next, %loop ]
  %next = getelementptr i8, ptr %at, i64 1
  %byte = load i8, ptr %at
  %end = icmp eq i8 %byte, 0
  br i1 %end, label %done, label %loop
done:
  ret i8 %byte
}

define void @uses(ptr %to, i64 %index) {
  %variable = alloca ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr @copied, i64 64, i1 false)
  %place = getelementptr i8, ptr @loaded, i64 %index
  %byte = load i8, ptr %place
  store i8 %byte, ptr @written
  %sum = call i8 @sums(ptr @summed)
  store ptr @kept, ptr %variable
  %again = load ptr, ptr %variable
  %other = load i8, ptr %again
  %page = and i64 ptrtoint (ptr @protected to i64), -4096
  %pointer = inttoptr i64 %page to ptr
  %done = call i32 @mprotect(ptr %pointer, i64 4096, i32 7)
  %poke = call i64 (i32, ...) @ptrace(i32 4, i32 1, ptr @poked, i64 0)
  %place_in_file = call i64 @lseek(i32 3, i64 ptrtoint (ptr @sought to i64), i32 0)
  %back = call ptr @hands_back(ptr @handed_back)
  %last = load i8, ptr %back
  call void @called()
  %same = icmp eq ptr %to, @called
  call void @takes(ptr @passed_on)
  %type = load i32, ptr getelementptr (i8, ptr @described, i64 -4)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @mprotect(ptr, i64, i32)
declare i64 @ptrace(i32, ...)
declare i64 @lseek(i32, i64, i32)
declare void @takes(ptr)
