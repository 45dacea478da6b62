; A function that calls another gets a pad: the slot is loaded, masked by the guard and by 4080, and allocated.
; A leaf gets none.
; RUN: %stab -passes=stab-pads < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @stab_stack = weak thread_local(initialexec) global [2 x i64] zeroinitializer
; CHECK: @stab_pad = private constant i32 0, section "stab_pads", align 4, !associated ![[caller:[0-9]+]]
; CHECK-NOT: @stab_pad.

declare void @callee(ptr)

; CHECK-LABEL: define void @caller()
; CHECK: [[base:%.*]] = load i64
; CHECK: [[budget:%.*]] = load i64
; CHECK: [[here:%.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK: [[depth:%.*]] = sub i64 [[base]], [[here]]
; CHECK: [[near:%.*]] = icmp ult i64 [[depth]], [[budget]]
; CHECK: [[slot:%.*]] = load volatile i32, ptr @stab_pad
; CHECK: [[mask:%.*]] = sext i1 [[near]] to i32
; CHECK: and i32 [[slot]], [[mask]]
; CHECK: and i32 %{{.*}}, 4080
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

; CHECK: ![[caller]] = !{ptr @caller}
