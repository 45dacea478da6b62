; The runtime is told of mprotect before it makes memory writable, and of setrlimit and prlimit after they may have changed the limit
; of address space. Other protections and limits are none of its concern.
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
declare i32 @setrlimit(i32, ptr)
declare i32 @prlimit(i32, i32, ptr, ptr)
