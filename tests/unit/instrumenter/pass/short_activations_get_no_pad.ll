; A function that is expected to execute fewer than 48 instructions of its own gets no pad, unless all are to get one;
; loops count as often as they are expected to go round. A recursive one gets none, however long, as its pad would stay 0.
; RUN: %stab -passes=stab-pads < %s | %check
; RUN: %stab -passes='stab-pads<all>' < %s | %check --check-prefix=ALL

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()

; CHECK-LABEL: define void @short(
; CHECK-NOT: stab.moves
; CHECK: ret void
; ALL-LABEL: define void @short(
; ALL: %stab.moves = alloca
define void @short(ptr %p) {
  %x = load volatile i32, ptr %p
  call void @callee()
  ret void
}

; CHECK-LABEL: define void @short_but_marked(
; CHECK: %stab.moves = alloca
define void @short_but_marked() "stab-pad-short" {
  call void @callee()
  ret void
}

; CHECK-LABEL: define void @short_without_optimization(
; CHECK: %stab.moves = alloca
define void @short_without_optimization() noinline optnone {
  call void @callee()
  ret void
}

; CHECK-LABEL: define void @goes_round(
; CHECK: %stab.moves = alloca
define void @goes_round(ptr %p) {
  br label %again
again:
  %x = load volatile i32, ptr %p
  %c = icmp eq i32 %x, 0
  br i1 %c, label %done, label %again
done:
  call void @callee()
  ret void
}

; Long, but hardly ever.
; CHECK-LABEL: define void @mostly_short(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @mostly_short(ptr %p, i1 %c) {
  br i1 %c, label %head, label %done, !prof !0
head:
  br label %again
again:
  %x = load volatile i32, ptr %p
  %d = icmp eq i32 %x, 0
  br i1 %d, label %done, label %again
done:
  call void @callee()
  ret void
}

; Expected to take some 32 * 7 instructions.
; CHECK-LABEL: define void @long_and_recursive(
; CHECK-NOT: stab.moves
; CHECK: ret void
; ALL-LABEL: define void @long_and_recursive(
; ALL: %stab.moves = alloca
define void @long_and_recursive(ptr %p) {
  br label %again
again:
  %x = load volatile i32, ptr %p
  %y = load volatile i32, ptr %p
  %z = load volatile i32, ptr %p
  %v = load volatile i32, ptr %p
  %w = load volatile i32, ptr %p
  %c = icmp eq i32 %x, 0
  br i1 %c, label %done, label %again
done:
  call void @long_and_recursive(ptr %p)
  call void @callee()
  ret void
}

; CHECK-LABEL: define void @recursive_without_optimization(
; CHECK: %stab.moves = alloca
define void @recursive_without_optimization() noinline optnone {
  call void @recursive_without_optimization()
  call void @callee()
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 1000}
