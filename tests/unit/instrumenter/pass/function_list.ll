; Every function that this module emits is listed by address and size: 8 bytes each. It is aligned by 8 at least, so that one store can
; change its entry, whatever alignment it asks for.
; RUN: %stab -passes=stab-functions < %s | %check
; RUN: %stab -passes=stab-functions < %s | %llc -relocation-model=pic | %check --check-prefix=ASM

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @first() align 8 !pcsections ![[list:[0-9]+]]
; CHECK: define internal void @second() align 8 !pcsections ![[list]]
; CHECK: define void @naked() #{{[0-9]+}} {
; CHECK: define void @changes_stacks(i64 %to) {
; CHECK: define void @changes_stacks_by_a_variable(i64 %to) {
; CHECK: define void @changes_stacks_by_the_frame(i64 %to) {
; CHECK: define i64 @copies_the_stack_pointer() align 8 !pcsections ![[list]]
; CHECK: define i64 @exchanges_it() {
; CHECK: define void @restores_another(ptr %to) {
; CHECK: define void @restores_what_it_saved() align 8 !pcsections ![[list]]
; CHECK: define void @restores_its_variable() align 8 !pcsections ![[list]]
; CHECK: define void @restores_another_by_a_variable(ptr %to) {
; CHECK: define void @other_assembly(i64 %a) align 8 !pcsections ![[list]]
; CHECK: define void @padded(i64 %pad) align 8 !pcsections ![[list]]
; CHECK: define available_externally void @elsewhere() {
; CHECK: define void @hardened() #{{[0-9]+}} {
; CHECK: define void @collected() gc "statepoint-example" {
; CHECK: define void @shadowed() align 8 gc "shadow-stack" !pcsections ![[list]]
; CHECK: define void @mapped() {
; CHECK: define void @small() #{{[0-9]+}} align 8 !pcsections ![[list]]
; CHECK: define void @small_method() #{{[0-9]+}} align 8 !pcsections ![[list]]
; CHECK: define void @aligned() align 32 !pcsections ![[list]]
; CHECK: define void @describes_itself() prefix i32 42 {
; CHECK: define void @begins_with_data() prologue i8 -112 {
; CHECK: define void @has_its_type_in_front() !kcfi_type !{{[0-9]+}} {
; CHECK: define i32 @faults_at_null(ptr %p) {
; CHECK: define void @of_another_list() !pcsections ![[others:[0-9]+]] {
; CHECK-DAG: ![[list]] = !{!"stab_funcs"}
; CHECK-DAG: ![[others]] = !{!"sanmd_covered2!C", !{{[0-9]+}}}

; ASM: .section stab_funcs,"awo",@progbits,.text
; ASM: [[entry:.Lpcsection_base[0-9]*]]:
; ASM: .long [[begin:.Lfunc_begin[0-9]+]]-[[entry]]
; ASM: .long .Lfunc_end{{[0-9]+}}-[[begin]]

define void @first() {
  ret void
}
define internal void @second() {
  ret void
}
define void @naked() naked {
  unreachable
}
define void @changes_stacks(i64 %to) {
  call void asm sideeffect "mov $0, %rsp", "r"(i64 %to)
  ret void
}
define void @changes_stacks_by_a_variable(i64 %to) {
  %1 = call i64 asm sideeffect "mov $1, $0", "={rsp},r"(i64 %to)
  ret void
}
define void @changes_stacks_by_the_frame(i64 %to) {
  call void asm sideeffect "mov $0, %rbp; leave; ret", "r"(i64 %to)
  ret void
}
define i64 @copies_the_stack_pointer() {
  %1 = call i64 asm sideeffect "movq\09%rsp, $0", "=r"()
  ret i64 %1
}
define i64 @exchanges_it() {
  %1 = call i64 asm sideeffect "movq %rsp, $0; movq $0, %rsp", "=r"()
  ret i64 %1
}
define void @restores_another(ptr %to) {
  call void @llvm.stackrestore.p0(ptr %to)
  ret void
}
define void @restores_what_it_saved() {
  %1 = call ptr @llvm.stacksave.p0()
  call void @llvm.stackrestore.p0(ptr %1)
  ret void
}
define void @restores_its_variable() {
  %saved = alloca ptr
  %1 = call ptr @llvm.stacksave.p0()
  store ptr %1, ptr %saved
  %2 = load ptr, ptr %saved
  call void @llvm.stackrestore.p0(ptr %2)
  ret void
}
define void @restores_another_by_a_variable(ptr %to) {
  %saved = alloca ptr
  %1 = call ptr @llvm.stacksave.p0()
  store ptr %1, ptr %saved
  store ptr %to, ptr %saved
  %2 = load ptr, ptr %saved
  call void @llvm.stackrestore.p0(ptr %2)
  ret void
}
define void @other_assembly(i64 %a) {
  call void asm sideeffect "add $$1, $0", "r"(i64 %a)
  ret void
}
define void @padded(i64 %pad) {
  call void asm sideeffect "$(subq $0, %rsp$|sub rsp, $0$)", "r,~{rsp},~{flags}"(i64 %pad)
  ret void
}
define available_externally void @elsewhere() {
  ret void
}
define void @hardened() speculative_load_hardening {
  ret void
}
define void @collected() gc "statepoint-example" {
  ret void
}
define void @shadowed() gc "shadow-stack" {
  ret void
}
define void @mapped() {
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 1, i32 0)
  ret void
}
define void @small() optsize {
  ret void
}
define void @small_method() optsize align 2 {
  ret void
}
define void @aligned() align 32 {
  ret void
}
define void @describes_itself() prefix i32 42 {
  ret void
}
define void @begins_with_data() prologue i8 -112 {
  ret void
}
define void @has_its_type_in_front() !kcfi_type !0 {
  ret void
}
define i32 @faults_at_null(ptr %p) {
  %1 = icmp eq ptr %p, null
  br i1 %1, label %absent, label %present, !make.implicit !1
absent:
  ret i32 0
present:
  %2 = load i32, ptr %p
  ret i32 %2
}
define void @of_another_list() !pcsections !2 {
  ret void
}
!0 = !{i32 1}
!1 = !{}
!2 = !{!"sanmd_covered2!C", !3}
!3 = !{i64 0}
