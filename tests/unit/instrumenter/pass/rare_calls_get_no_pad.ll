; Calls that are expected in one of 16 activations at most, all together, need no pad and move none.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()
declare void @complain() cold
declare void @abort() noreturn

; CHECK-LABEL: define void @unlikely(
; CHECK-NOT: stab
; CHECK: ret void
define void @unlikely(i1 %c) {
  br i1 %c, label %rare, label %done, !prof !0
rare:
  call void @callee()
  br label %done
done:
  ret void
}

; CHECK-LABEL: define void @complains(
; CHECK-NOT: stab
; CHECK: ret void
define void @complains(i1 %c) {
  br i1 %c, label %rare, label %done
rare:
  call void @complain()
  br label %done
done:
  ret void
}

; CHECK-LABEL: define void @fails(
; CHECK-NOT: stab
; CHECK: ret void
define void @fails(i1 %c) {
  br i1 %c, label %fail, label %done
fail:
  call void @callee()
  call void @abort()
  unreachable
done:
  ret void
}

; In a loop the same call is expected more often.
; CHECK-LABEL: define void @unlikely_in_each_turn(
; CHECK: %stab.moves = alloca
define void @unlikely_in_each_turn(i1 %c, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %again ]
  br i1 %c, label %rare, label %again, !prof !1
rare:
  call void @callee()
  br label %again
again:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done, !prof !2
done:
  ret void
}

; The rare call would move the pad to the entry.
; CHECK-LABEL: define void @one_of_two(
; CHECK-NEXT: br i1 %c, label %rare, label %on
; CHECK: often:
; CHECK: %stab.moves = alloca
; CHECK: call void @callee()
define void @one_of_two(i1 %c, i1 %d) {
  br i1 %c, label %rare, label %on, !prof !0
rare:
  call void @callee()
  br label %on
on:
  br i1 %d, label %often, label %done
often:
  call void @callee()
  br label %done
done:
  ret void
}

; Each of these is rare, but one of them is made in one of seven activations.
; CHECK-LABEL: define void @cases(
; CHECK: %stab.moves = alloca
; CHECK: switch
define void @cases(i32 %n) {
  switch i32 %n, label %c0 [
    i32 1, label %c1
    i32 2, label %c2
    i32 3, label %c3
  ], !prof !3
c0:
  call void @callee()
  br label %done
c1:
  call void @callee()
  br label %done
c2:
  call void @callee()
  br label %done
c3:
  ret void
done:
  ret void
}

; CHECK-LABEL: define void @not_optimized(
; CHECK: %stab.moves = alloca
define void @not_optimized(i1 %c) optnone noinline {
  br i1 %c, label %rare, label %done, !prof !0
rare:
  call void @callee()
  br label %done
done:
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 2000}
!1 = !{!"branch_weights", i32 1, i32 99}
!2 = !{!"branch_weights", i32 99, i32 1}
!3 = !{!"branch_weights", i32 5, i32 5, i32 5, i32 85}
