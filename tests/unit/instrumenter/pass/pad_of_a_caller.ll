; A function that calls another gets a pad: the slot is chosen by the guard, masked by 4080, and allocated.
; Ten instructions: the load of the slot folds into a conditional move. A leaf gets none.
; RUN: %stab -passes=stab-pads < %s | %check
; RUN: %stab -passes=stab-pads < %s | %llc -O2 -relocation-model=pic | %check --check-prefix=ASM

; ASM-LABEL: caller:
; ASM: movq stab_stack@GOTTPOFF(%rip), %[[at:r..]]
; ASM-NEXT: movq %fs:(%[[at]]), %[[depth:r..]]
; ASM-NEXT: subq %rsp, %[[depth]]
; ASM-NEXT: xorl
; ASM-NEXT: cmpq %fs:8(%[[at]]), %[[depth]]
; ASM-NEXT: cmovbl .Lstab_pad(%rip), %[[pad:e..]]
; ASM-NEXT: andl $4080, %[[pad]]
; ASM-NEXT: movq %rsp
; ASM-NEXT: subq
; ASM-NEXT: movq {{.*}}, %rsp

target triple = "x86_64-unknown-linux-gnu"

; CHECK-DAG: @stab_stack = weak thread_local(initialexec) global [2 x i64] zeroinitializer
; CHECK-DAG: @stab_pad = private constant i32 0, section "stab_pads", align 4, !associated ![[caller:[0-9]+]]
; CHECK-DAG: @stab_pad.1 =
; CHECK-DAG: @stab_pad.2 =
; CHECK-NOT: @stab_pad.3

declare void @callee(ptr)

; CHECK-LABEL: define void @caller()
; CHECK: [[base:%.*]] = load i64
; CHECK: [[budget:%.*]] = load i64
; CHECK: [[here:%.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK: [[depth:%.*]] = sub i64 [[base]], [[here]]
; CHECK: [[near:%.*]] = icmp ult i64 [[depth]], [[budget]]
; CHECK: [[slot:%.*]] = load volatile i32, ptr @stab_pad
; CHECK: [[chosen:%.*]] = select i1 [[near]], i32 [[slot]], i32 0, !unpredictable
; CHECK: and i32 [[chosen]], 4080
; CHECK: [[room:%.*]] = alloca i8, i64 %{{.*}}, align 16
; CHECK: call void asm sideeffect "", "r"(ptr [[room]])
; CHECK: call void @callee
define void @caller() {
  %local = alloca i32
  call void @callee(ptr %local)
  ret void
}

; CHECK-LABEL: define i32 @leaf(
; CHECK-NOT: alloca
; CHECK: ret i32
define i32 @leaf(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}

; A tail call in name only: something else is returned.
; CHECK-LABEL: define i32 @returns_zero()
; CHECK: %stab.pad = alloca
define i32 @returns_zero() {
  tail call void @callee(ptr null)
  ret i32 0
}

; CHECK-LABEL: define i32 @returns_zero_further_on(
; CHECK: %stab.pad = alloca
define i32 @returns_zero_further_on(i1 %c) {
  br i1 %c, label %call, label %join
call:
  tail call void @callee(ptr null)
  br label %join
join:
  %v = phi i32 [ 1, %call ], [ 0, %0 ]
  ret i32 %v
}

; CHECK: ![[caller]] = !{ptr @caller}
