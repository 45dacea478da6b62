; Position-independent code with pads carries a constructor and a destructor in comdats; code for executables doesn't,
; nor code without pads.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: sed 's/^!0 = .*/!0 = !{i32 7, !"PIE Level", i32 2}/' %s | %stab -passes='stab-pads<all>' | %check --check-prefix=PIE
; RUN: sed 's/call void @callee()//' %s | %stab -passes='stab-pads<all>' | %check --check-prefix=LEAF

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @__start_stab_pads = extern_weak hidden global i32
; CHECK: @__stop_stab_pads = extern_weak hidden global i32
; CHECK-NOT: @llvm.global_
; CHECK: @stab.module_begin.entry = internal global ptr @stab.module_begin, section ".init_array.1", comdat($stab.module_begin), align 8
; CHECK: @stab.module_end.entry = internal global ptr @stab.module_end, section ".fini_array.1", comdat($stab.module_end), align 8
; CHECK: define linkonce_odr hidden void @stab.module_begin() {{.*}}comdat
; CHECK-NEXT: icmp ne ptr @stab_rt_module_load, null
; CHECK: call void @stab_rt_module_load(ptr @__start_stab_pads, ptr @__stop_stab_pads, ptr @stab_stack)
; CHECK: icmp ne ptr @stab_rt_module_begin, null
; CHECK: call void @stab_rt_module_begin(ptr @__start_stab_pads, ptr @__stop_stab_pads)
; CHECK: declare extern_weak void @stab_rt_module_begin(ptr, ptr)
; CHECK: define linkonce_odr hidden void @stab.module_end() {{.*}}comdat
; CHECK: call void @stab_rt_module_end(ptr @__start_stab_pads)

; PIE: @stab_pad = private
; PIE-NOT: stab.module_begin
; LEAF-NOT: stab.module_begin

declare void @callee()
define void @caller() {
  call void @callee()
  ret void
}

!llvm.module.flags = !{!0, !1}
!0 = !{i32 7, !"stab test", i32 2}
!1 = !{i32 8, !"PIC Level", i32 2}
