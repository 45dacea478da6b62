; Position-independent code carries a constructor and a destructor in comdats, with or without pads; code for executables doesn't,
; nor code for no system.
; RUN: %stab -passes='stab-registration' < %s | %check
; RUN: sed 's/^!0 = .*/!0 = !{i32 7, !"PIE Level", i32 2}/' %s | %stab -passes='stab-registration' | %check --check-prefix=NONE
; RUN: sed 's/@leaf() {/@leaf() "stab-no-pad" {/' %s | %stab -passes='stab-registration' | %check --check-prefix=NONE
; RUN: sed 's/^define .*/declare i32 @leaf()/; /^  ret/d; /^}/d' %s | %stab -passes='stab-registration' | %check --check-prefix=NONE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @stab.place = linkonce_odr hidden constant i8 0, comdat
; CHECK-NOT: @llvm.global_
; CHECK: @stab.code_begin.entry = internal global ptr @stab.code_begin, section ".init_array.1", comdat($stab.code_begin), align 8
; CHECK: @stab.code_end.entry = internal global ptr @stab.code_end, section ".fini_array.1", comdat($stab.code_end), align 8
; CHECK: define linkonce_odr hidden void @stab.code_begin() {{.*}}comdat
; CHECK-NEXT: icmp ne ptr @stab_rt_code_load, null
; CHECK: call void @stab_rt_code_load(ptr @stab.place)
; CHECK: declare extern_weak void @stab_rt_code_load(ptr)
; CHECK: define linkonce_odr hidden void @stab.code_end() {{.*}}comdat
; CHECK: call void @stab_rt_code_unload(ptr @stab.place)

; NONE-NOT: stab.code_begin

define i32 @leaf() {
  ret i32 1
}

!llvm.module.flags = !{!0, !1}
!0 = !{i32 7, !"stab test", i32 2}
!1 = !{i32 8, !"PIC Level", i32 2}
