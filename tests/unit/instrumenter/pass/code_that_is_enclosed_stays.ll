; Where bytes are read from one function to another, both and all between them are in no list of functions that move. If an end is the
; linker's name for one of the text, or of another module, the functions that refer to it tell the runtime first. A comparison
; alone is no reading. Who reads the beginning of another module's function doesn't tell.
; RUN: %stab -passes=stab-code-as-data,stab-told-calls < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @before() align 8 !pcsections
; CHECK: define void @first() #[[data:[0-9]+]] {
; CHECK: define void @between() #[[data]] {
; CHECK: define void @last() #[[data]] {
; CHECK: define void @behind() align 8 !pcsections
; CHECK: define void @from_here() #[[data]] {
; CHECK: define void @compared() align 8 !pcsections

@__executable_start = external constant i8
@etext = external constant i8
@_etext = external constant i8
@__etext = external constant i8

define void @before() {
  ret void
}
define void @first() {
  ret void
}
define void @between() {
  ret void
}
define void @last() {
  ret void
}
define void @behind() {
  ret void
}
define void @from_here() {
  ret void
}
define void @apart() section "of_code" {
  ret void
}
@apart_from_code = constant i8 1, section "of_data"
@__start_of_code = external constant i8
@__stop_of_code = external constant i8
@__start_of_data = external constant i8
@__stop_of_data = external constant i8
define void @compared() {
  ret void
}

define i8 @reads(ptr %begin, ptr %end) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %begin, %entry ], [ %next, %loop ]
  %next = getelementptr i8, ptr %at, i64 1
  %byte = load i8, ptr %at
  %is_end = icmp eq ptr %next, %end
  br i1 %is_end, label %done, label %loop
done:
  ret i8 %byte
}

define i8 @reads_enclosed() {
  %sum = call i8 @reads(ptr @first, ptr @last)
  ret i8 %sum
}

; CHECK-LABEL: define i8 @reads_text(
; CHECK: icmp ne ptr @stab_rt_before_text_is_read, null
; CHECK: call void @stab_rt_before_text_is_read()
; CHECK: icmp ult ptr
define i8 @reads_text() {
entry:
  br label %loop
loop:
  %at = phi ptr [ @__executable_start, %entry ], [ %next, %loop ]
  %next = getelementptr i8, ptr %at, i64 1
  %byte = load i8, ptr %at
  %more = icmp ult ptr %next, @etext
  br i1 %more, label %loop, label %done
done:
  ret i8 %byte
}

; CHECK-LABEL: define i8 @reads_sections(
; CHECK: call void @stab_rt_before_text_is_read()
define i8 @reads_sections() {
  %sum = call i8 @reads(ptr @__start_of_code, ptr @__stop_of_code)
  ret i8 %sum
}

; CHECK-LABEL: define i8 @reads_data(
; CHECK-NOT: @stab_rt_
; CHECK: ret i8
define i8 @reads_data() {
  %sum = call i8 @reads(ptr @__start_of_data, ptr @__stop_of_data)
  ret i8 %sum
}

; Who refers to a variable with its own distance from that function in it is looked for once.
@distance = global i64 sub (i64 ptrtoint (ptr @elsewhere to i64), i64 ptrtoint (ptr @distance to i64))

; CHECK-LABEL: define i32 @reads_other_module(
; CHECK: call void @stab_rt_before_text_is_read()
define i32 @reads_other_module(ptr %to) {
  %bytes = sub i64 ptrtoint (ptr @elsewhere to i64), ptrtoint (ptr @from_here to i64)
  %same = call i32 @memcmp(ptr @from_here, ptr %to, i64 %bytes)
  ret i32 %same
}

; CHECK-LABEL: define i32 @calls_the_first(
; CHECK-NOT: @stab_rt_
; CHECK: ret i32
define i32 @calls_the_first() {
  call void @from_here()
  ret i32 0
}

; CHECK-LABEL: define i1 @is_in_text(
; CHECK-NOT: @stab_rt_
; CHECK: ret i1
define i1 @is_in_text(ptr %pointer) {
  %low = icmp uge ptr %pointer, @__etext
  %high = icmp ult ptr %pointer, @_etext
  %same = icmp ult ptr %pointer, @compared
  %both = and i1 %low, %high
  ret i1 %both
}

; CHECK-LABEL: define i8 @reads_one_function_of_another_module(
; CHECK-NOT: @stab_rt_
; CHECK: ret i8
define i8 @reads_one_function_of_another_module() {
  %byte = load i8, ptr @read_alone
  ret i8 %byte
}

; CHECK: attributes #[[data]] = {{.*}}"stab-code-is-data" "stab-no-pad"

declare void @elsewhere()
declare void @read_alone()
declare i32 @memcmp(ptr, ptr, i64)
