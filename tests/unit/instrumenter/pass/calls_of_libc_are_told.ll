; The runtime is told of mprotect before it makes memory writable, of ptrace before a process is traced that does not become another
; program, of files after they may be open to be written to where the module names memory as one, and of setrlimit and prlimit after
; they may have changed the limit of address space. Other protections, requests, files and limits are none of its concern.
; RUN: %stab -passes=stab-told-calls < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @makes_writable(
; CHECK: icmp ne ptr @stab_rt_before_protect, null
; CHECK: call void @stab_rt_before_protect(ptr %start, i64 4096, i32 7)
; CHECK: call i32 @mprotect(ptr %start, i64 4096, i32 7)
define i32 @makes_writable(ptr %start) {
  %done = tail call i32 @mprotect(ptr %start, i64 4096, i32 7)
  ret i32 %done
}

; CHECK-LABEL: define i32 @may_make_writable(
; CHECK: call void @stab_rt_before_protect(ptr %start, i64 %bytes, i32 %protection)
define i32 @may_make_writable(ptr %start, i64 %bytes, i32 %protection) {
  %done = call i32 @pkey_mprotect(ptr %start, i64 %bytes, i32 %protection, i32 1)
  ret i32 %done
}

; CHECK-LABEL: define i32 @makes_readable(
; CHECK-NOT: @stab_rt_
; CHECK: ret i32
define i32 @makes_readable(ptr %start) {
  %done = call i32 @mprotect(ptr %start, i64 4096, i32 5)
  ret i32 %done
}

; CHECK-LABEL: define i32 @makes_itself_writable(
; CHECK: call void @stab_rt_before_protect(ptr @makes_itself_writable, i64 4096, i32 7)
define i32 @makes_itself_writable() "stab-code-is-data" "stab-no-pad" {
  %done = call i32 @mprotect(ptr @makes_itself_writable, i64 4096, i32 7)
  ret i32 %done
}

; CHECK-LABEL: define i64 @is_traced(
; CHECK: call void @stab_rt_before_trace(i32 0)
; CHECK: call i64 (i32, ...) @ptrace(i32 0)
define i64 @is_traced() {
  %done = call i64 (i32, ...) @ptrace(i32 0)
  ret i64 %done
}

; CHECK-LABEL: define i64 @traces(
; CHECK-NOT: @stab_rt_
; CHECK: ret i64
define i64 @traces(i32 %process) {
  %done = call i64 (i32, ...) @ptrace(i32 16, i32 %process, ptr null, ptr null)
  ret i64 %done
}

; CHECK-LABEL: define i64 @becomes_another(
; CHECK-NOT: @stab_rt_
; CHECK: ret i64
define i64 @becomes_another(ptr %path) {
  %done = call i64 (i32, ...) @ptrace(i32 0)
  %not = call i32 @execv(ptr %path, ptr null)
  ret i64 %done
}

@memory = constant [15 x i8] c"/proc/self/mem\00"
@read = constant [3 x i8] c"rb\00"
@change = constant [3 x i8] c"r+\00"

; CHECK-LABEL: define i32 @opens(
; CHECK: %one = call i32 (ptr, i32, ...) @open(ptr %path, i32 2)
; CHECK-NEXT: [[DONE:%.*]] = icmp sgt i32 %one, -1
; CHECK-NEXT: [[OPEN:%.*]] = zext i1 [[DONE]] to i32
; CHECK-NEXT: icmp ne ptr @stab_rt_opened, null
; CHECK: call void @stab_rt_opened(ptr %path, i32 2, i32 [[OPEN]])
; CHECK: call i32 (i32, ptr, i32, ...) @openat(
; CHECK: call void @stab_rt_opened(ptr %path, i32 %flags, i32
; CHECK: call i32 @__open_2(
; CHECK: call void @stab_rt_opened(ptr %path, i32 %flags, i32
; CHECK: %four = call ptr @fopen(
; CHECK-NEXT: icmp ne ptr %four, null
; CHECK: call void @stab_rt_opened(ptr %path, i32 2, i32
; CHECK: call ptr @freopen(
; CHECK: call void @stab_rt_opened(ptr %path, i32 2, i32
define i32 @opens(ptr %path, i32 %flags) {
  %one = call i32 (ptr, i32, ...) @open(ptr %path, i32 2)
  %two = call i32 (i32, ptr, i32, ...) @openat(i32 %one, ptr %path, i32 %flags)
  %three = call i32 @__open_2(ptr %path, i32 %flags)
  %four = call ptr @fopen(ptr %path, ptr @change)
  %five = call ptr @freopen(ptr %path, ptr @change, ptr %four)
  ret i32 %two
}

; An exception may leave it, as one that cancels a thread.
; CHECK-LABEL: define i32 @opens_or_throws(
; CHECK: invoke i32 (ptr, i32, ...) @open(ptr %path, i32 2)
; CHECK-NEXT: to label %[[NEXT:.*]] unwind label %left
; CHECK: [[NEXT]]:
; CHECK-NEXT: icmp sgt i32 %one, -1
; CHECK: call void @stab_rt_opened(ptr %path, i32 2, i32
; CHECK: open:
; CHECK: phi i32
define i32 @opens_or_throws(ptr %path, i1 %may) personality ptr @personality {
  br i1 %may, label %try, label %open
try:
  %one = invoke i32 (ptr, i32, ...) @open(ptr %path, i32 2) to label %open unwind label %left
open:
  %file = phi i32 [ %one, %try ], [ -1, %0 ]
  ret i32 %file
left:
  %thrown = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %thrown
}

; CHECK-LABEL: define i32 @reads(
; CHECK-NOT: @stab_rt_
; CHECK: ret i32
define i32 @reads(ptr %path) {
  %one = call i32 (ptr, i32, ...) @open(ptr %path, i32 0)
  %two = call ptr @fopen(ptr %path, ptr @read)
  ret i32 %one
}

; CHECK-LABEL: define i32 @limits_addresses(
; CHECK: {{^}}  %done = call i32 @setrlimit(i32 9, ptr %limit)
; CHECK: icmp ne ptr @stab_rt_limit_changed, null
; CHECK: call void @stab_rt_limit_changed()
define i32 @limits_addresses(ptr %limit) {
  %done = tail call i32 @setrlimit(i32 9, ptr %limit)
  ret i32 %done
}

; CHECK-LABEL: define i32 @may_limit_addresses(
; CHECK: call i32 @prlimit(
; CHECK: call void @stab_rt_limit_changed()
define i32 @may_limit_addresses(i32 %which, ptr %limit) {
  %done = call i32 (i32, i32, ptr, ptr) @prlimit(i32 0, i32 %which, ptr %limit, ptr null)
  ret i32 %done
}

; CHECK-LABEL: define i32 @limits_stacks(
; CHECK-NOT: @stab_rt_
; CHECK: ret i32
define i32 @limits_stacks(ptr %limit) {
  %done = call i32 @setrlimit(i32 3, ptr %limit)
  ret i32 %done
}

; CHECK-DAG: declare extern_weak void @stab_rt_before_protect(ptr, i64, i32)
; CHECK-DAG: declare extern_weak void @stab_rt_limit_changed()

declare i32 @mprotect(ptr, i64, i32)
declare i32 @pkey_mprotect(ptr, i64, i32, i32)
declare i64 @ptrace(i32, ...)
declare i32 @execv(ptr, ptr)
declare i32 @open(ptr, i32, ...)
declare i32 @openat(i32, ptr, i32, ...)
declare i32 @__open_2(ptr, i32)
declare ptr @fopen(ptr, ptr)
declare ptr @freopen(ptr, ptr, ptr)
declare i32 @personality(...)
declare i32 @setrlimit(i32, ptr)
declare i32 @prlimit(i32, i32, ptr, ptr)
