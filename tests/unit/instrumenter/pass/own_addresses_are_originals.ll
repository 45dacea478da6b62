; What tools ask for that is an address of code goes through the runtime, where there is one. Resolvers of IFUNCs can't call it.
; RUN: %stab -passes=stab-own-addresses < %s | %check

target triple = "x86_64-unknown-linux-gnu"

@chosen = ifunc i32 (), ptr @resolve

; CHECK-LABEL: define void @profiled(
; CHECK: %[[raw:.*]] = call ptr @llvm.returnaddress(i32 0)
; CHECK-NEXT: alloca
; CHECK-NEXT: icmp ne ptr @stab_rt_original_address, null
; CHECK: %[[found:.*]] = call ptr @stab_rt_original_address(ptr %[[raw]])
; CHECK: %[[either:.*]] = phi ptr
; CHECK-DAG: [ %[[found]],
; CHECK: call void @__cyg_profile_func_enter(ptr @profiled, ptr %[[either]])
define void @profiled() {
  %local = alloca i32
  %address = call ptr @llvm.returnaddress(i32 0)
  %behind = alloca i32
  store i32 1, ptr %behind
  call void @__cyg_profile_func_enter(ptr @profiled, ptr %address)
  ret void
}

; CHECK-LABEL: define i64 @unwinds(
; CHECK: invoke i64 @_Unwind_GetIP(ptr %context)
; CHECK: call ptr @stab_rt_original_address(
; CHECK: {{ = call}} ptr @_Unwind_FindEnclosingFunction
; CHECK: call ptr @stab_rt_original_function(
define i64 @unwinds(ptr %context) personality ptr @routine {
  %address = invoke i64 @_Unwind_GetIP(ptr %context) to label %next unwind label %fails
next:
  %pointer = inttoptr i64 %address to ptr
  %function = tail call ptr @_Unwind_FindEnclosingFunction(ptr %pointer)
  %value = ptrtoint ptr %function to i64
  ret i64 %value
fails:
  %caught = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %caught
}

; CHECK-LABEL: define i32 @lists(
; CHECK: %[[count:.*]] = call i32 @backtrace(ptr %frames, i32 9)
; CHECK: icmp ne ptr @stab_rt_original_addresses, null
; CHECK: call void @stab_rt_original_addresses(ptr %frames, i32 %[[count]])
define i32 @lists(ptr %frames) {
  %count = call i32 @backtrace(ptr %frames, i32 9)
  ret i32 %count
}

; CHECK-LABEL: define ptr @resolve(
; CHECK-NOT: @stab_rt
; CHECK: ret ptr @target
define ptr @resolve() {
  %address = call i64 @_Unwind_GetIP(ptr null)
  ret ptr @target
}
define i32 @target() {
  ret i32 1
}

; CHECK-DAG: declare extern_weak ptr @stab_rt_original_address(ptr)
; CHECK-DAG: declare extern_weak void @stab_rt_original_addresses(ptr, i32)

declare ptr @llvm.returnaddress(i32)
declare void @__cyg_profile_func_enter(ptr, ptr)
declare i64 @_Unwind_GetIP(ptr)
declare ptr @_Unwind_FindEnclosingFunction(ptr)
declare i32 @backtrace(ptr, i32)
declare i32 @routine(...)
