; A function that calls another moves the stack pointer by its slot's lower half, within the bounds of the thread: six
; instructions in executables. The frame is restored from a frame pointer. A leaf gets nothing.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: %stab -passes='stab-pads<all>' < %s | %llc -O2 -relocation-model=static | %check --check-prefix=ASM
; RUN: %stab -passes='stab-pads<all>,dce,adce,sroa,instsimplify' < %s | %llc -O2 -relocation-model=static | %check --check-prefix=ASM
; RUN: %stab -passes='stab-pads<all>' < %s | %llc -O0 -relocation-model=static | %check --check-prefix=O0
; RUN: %stab -passes='stab-pads<all>' < %s | %llc -O2 -x86-asm-syntax=intel | %check --check-prefix=INTEL
; RUN: (cat %s; echo '!llvm.module.flags = !{!0}'; echo '!0 = !{i32 8, !"PIC Level", i32 2}') | %stab -passes='stab-pads<all>' | %llc -O2 -relocation-model=pic | %check --check-prefix=PIC

; ASM-LABEL: caller:
; ASM: movq %rsp, %rbp
; ASM: cmpq %fs:stab_stack@TPOFF, %rsp
; ASM-NEXT: jb [[rest:.*]]
; ASM-NEXT: #
; ASM-NEXT: cmpq %fs:stab_stack@TPOFF+8, %rsp
; ASM-NEXT: ja [[rest]]
; ASM-NEXT: #
; ASM-NEXT: movzwl .Lstab_pad(%rip), %e[[pad:..]]
; ASM-NEXT: #APP
; ASM-NEXT: subq %r[[pad]], %rsp
; ASM-NEXT: #NO_APP
; ASM-NEXT: [[rest]]:
; ASM: callq callee
; ASM-NEXT: movq %rbp, %rsp

; O0-LABEL: caller:
; O0: #APP
; O0-NEXT: subq %{{r..}}, %rsp
; O0-NEXT: #NO_APP
; O0: movq %rbp, %rsp

; INTEL-LABEL: caller:
; INTEL: #APP
; INTEL-NEXT: sub rsp, r
; INTEL-NEXT: #NO_APP

; Code that may end up in a library reads the place of the thread's record.
; PIC-LABEL: caller:
; PIC: movq stab_stack@GOTTPOFF(%rip), %[[at:r..]]
; PIC-NEXT: cmpq %fs:(%[[at]]), %rsp
; PIC-NEXT: jb
; PIC: cmpq %fs:8(%[[at]]), %rsp
; PIC-NEXT: ja

target triple = "x86_64-unknown-linux-gnu"

; CHECK-DAG: @stab_stack = weak dso_local thread_local(initialexec) global [2 x i64] zeroinitializer
; CHECK-DAG: @stab_pad = private constant i32 0, section "stab_pads", align 4, !associated ![[caller:[0-9]+]]
; CHECK-DAG: @stab_pad.1 =
; CHECK-DAG: @stab_pad.2 =
; CHECK-NOT: @stab_pad.3

declare void @callee(ptr)

; CHECK-LABEL: define void @caller()
; CHECK: [[lowest:%.*]] = load i64
; CHECK: [[here:%.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK: [[above:%.*]] = icmp uge i64 [[here]], [[lowest]]
; CHECK: br i1 [[above]], label %[[inner:.*]], label %[[rest:.*]], !prof ![[always:[0-9]+]]
; CHECK: [[inner]]:
; CHECK: [[second:%.*]] = getelementptr inbounds i64, ptr {{.*}}, i64 1
; CHECK: [[base:%.*]] = load i64, ptr [[second]]
; CHECK: [[there:%.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK: [[below:%.*]] = icmp ule i64 [[there]], [[base]]
; CHECK: br i1 [[below]], label %[[take:.*]], label %{{.*}}, !prof ![[always]]
; CHECK: [[take]]:
; CHECK: [[slot:%.*]] = load volatile i16, ptr @stab_pad,
; CHECK: [[moves:%.*]] = alloca {}, align 16
; CHECK: store volatile {} zeroinitializer, ptr [[moves]]
; CHECK: [[pad:%.*]] = zext i16 [[slot]] to i64
; CHECK: call void asm sideeffect "$(subq $0, %rsp$|sub rsp, $0$)", "r,~{rsp},~{flags}"(i64 [[pad]])
; CHECK: [[rest]]:
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
; CHECK: %stab.moves = alloca
define i32 @returns_zero() {
  tail call void @callee(ptr null)
  ret i32 0
}

; CHECK-LABEL: define i32 @returns_zero_further_on(
; CHECK: %stab.moves = alloca
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
; CHECK: ![[always]] = !{!"branch_weights", i32 1048575, i32 1}
