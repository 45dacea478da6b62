; A module whose code measures the stack, as who copies it must, says so in a section that --gc-sections leaves. What is only
; compared with a limit measures nothing for a copy, nor does what began in the frame itself, nor another field of a struct than
; the one that holds an address in the frame.
; RUN: %stab -passes=stab-stack-copies < %s | %check
; RUN: sed '/ret i64 .distance/s/.distance/0/' %s | %stab -passes=stab-stack-copies | %check --check-prefix=NONE
; RUN: sed '/ret i64 .distance/s/.distance/0/; /%field = /s/i64 8/i64 0/' %s | %stab -passes=stab-stack-copies | %check
; RUN: sed '/ret i64 .distance/s/.distance/0/; /store ptr %own/s/%box/%anywhere/; /%number = /s/%field/%anywhere/' %s | %stab -passes=stab-stack-copies | %check --check-prefix=NONE
; RUN: sed '/ret i64 .distance/s/.distance/0/; /store ptr %own/s/ptr %own, ptr %box/i64 %place, ptr %anywhere/' %s | %stab -passes=stab-stack-copies | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: private constant i8 1, section "stab_stack_copies"
; CHECK: @llvm.used = appending global
; NONE-NOT: section "stab_stack_copies"

@base = external global ptr

define i64 @measure() {
  %here = alloca i8
  %from = load ptr, ptr @base
  %a = ptrtoint ptr %from to i64
  %b = ptrtoint ptr %here to i64
  %distance = sub i64 %a, %b
  ret i64 %distance
}

; A limit of recursion.
define i1 @limit(ptr %from) {
  %here = alloca i8
  %a = ptrtoint ptr %from to i64
  %b = ptrtoint ptr %here to i64
  %used = sub i64 %a, %b
  %items = ashr exact i64 %used, 3
  %deep = icmp sgt i64 %items, 100000
  ret i1 %deep
}

; What a callee finds in the frame, and where a callee leaves a place of it.
declare ptr @find(ptr)
declare void @find_end(ptr, ptr)

define i64 @length() {
  %buffer = alloca [64 x i8]
  %end = call ptr @find(ptr %buffer)
  %a = ptrtoint ptr %end to i64
  %b = ptrtoint ptr %buffer to i64
  %bytes = sub i64 %a, %b
  ret i64 %bytes
}

define i64 @length_by_place() {
  %buffer = alloca [64 x i8]
  %place = alloca ptr
  call void @find_end(ptr %buffer, ptr %place)
  %end = load ptr, ptr %place
  %a = ptrtoint ptr %end to i64
  %b = ptrtoint ptr %buffer to i64
  %bytes = sub i64 %a, %b
  ret i64 %bytes
}

%box = type { ptr, i64, [2 x i64] }

define i64 @fields(i64 %which, ptr %to) {
  %own = alloca i64
  %place = ptrtoint ptr %own to i64
  %box = alloca %box
  %anywhere = getelementptr inbounds %box, ptr %box, i64 0, i32 2, i64 %which
  store ptr %own, ptr %box
  call void @find_end(ptr %box, ptr %box)
  %field = getelementptr inbounds i8, ptr %box, i64 8
  %number = load i64, ptr %field
  %far = load i64, ptr %to
  %rest = sub i64 %far, %number
  ret i64 %rest
}
