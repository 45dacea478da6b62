; The pad stands at the closest point that dominates all calls, never in a loop, not even an irreducible one.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()

; CHECK-LABEL: @rare_call
; CHECK-NEXT: br i1 %c, label %rare, label %done
; CHECK: rare:
; CHECK: %stab.moves = alloca
; CHECK: call void @callee()
define void @rare_call(i1 %c) {
  br i1 %c, label %rare, label %done
rare:
  call void @callee()
  br label %done
done:
  ret void
}

; CHECK-LABEL: @two_arms
; CHECK: %stab.moves = alloca
; CHECK: br i1 %c, label %left, label %right
; CHECK-NOT: alloca
; CHECK: ret void
define void @two_arms(i1 %c) {
  br i1 %c, label %left, label %right
left:
  call void @callee()
  ret void
right:
  call void @callee()
  ret void
}

; CHECK-LABEL: @loop
; CHECK: before:
; CHECK: %stab.moves = alloca
; CHECK: br label %body
; CHECK: body:
; CHECK-NOT: alloca
; CHECK: ret void
define void @loop(i32 %n, i1 %c) {
  br i1 %c, label %before, label %done
before:
  br label %body
body:
  %i = phi i32 [ 0, %before ], [ %next, %body ]
  call void @callee()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

; CHECK-LABEL: @irreducible
; CHECK: %stab.moves = alloca
; CHECK: br i1 %c, label %one, label %two
; CHECK-NOT: alloca
; CHECK: ret void
define void @irreducible(i1 %c, i1 %d) {
  br i1 %c, label %one, label %two
one:
  br label %two
two:
  call void @callee()
  br i1 %d, label %one, label %done
done:
  ret void
}

; Static allocas stay static: those of the entry block come first.
; CHECK-LABEL: @aligned_local
; CHECK-NEXT: %local = alloca [8 x i32], align 64
; CHECK: %stab.moves = alloca
define void @aligned_local() {
  %local = alloca [8 x i32], align 64
  call void @callee()
  ret void
}

; CHECK-LABEL: @unreachable_call
; CHECK-NOT: alloca
; CHECK: ret void
define void @unreachable_call() {
  ret void
dead:
  call void @callee()
  ret void
}
