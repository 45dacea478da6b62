; A padded function moves the stack pointer at each call that passes something on the stack, by a multiple of 16. So there is no
; pad where an argument there needs more, or where the call may throw over and over: what it passed is not taken back then.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: %stab -passes='stab-pads<all>' < %s | %llc -O2 | %check --check-prefix=ASM

target triple = "x86_64-unknown-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

declare void @takes_copy(ptr byval({ i64, i64 }) align 64)
declare void @takes_small_copy(ptr byval({ i64, i64 }) align 16)
declare void @takes_copy_of_vector(ptr byval(<8 x float>))
declare void @takes_two(<8 x float>, <8 x float>)
declare void @takes_eight(<8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>)
declare void @takes_nine(<8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>, <8 x float>)
declare void @takes_some(i32, ...)
declare void @takes_seven(i64, i64, i64, i64, i64, i64, i64)
declare void @takes_six(i64, i64, i64, i64, i64, i64)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: @overaligned_copy(
; CHECK-NOT: stab.moves
; CHECK: ret void
; ASM-LABEL: overaligned_copy:
; ASM: andq $-64, %rsp
; ASM-NOT: #APP
; ASM: callq takes_copy
define void @overaligned_copy(ptr %p) {
  call void @takes_copy(ptr byval({ i64, i64 }) align 64 %p)
  call void @takes_copy(ptr byval({ i64, i64 }) align 64 %p)
  ret void
}

; A call that is hardly ever made is one all the same.
; CHECK-LABEL: @overaligned_copy_of_a_rare_call(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @overaligned_copy_of_a_rare_call(ptr %p, i1 %c) {
  call void @takes_six(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5)
  br i1 %c, label %rare, label %done, !prof !0
rare:
  call void @takes_copy(ptr byval({ i64, i64 }) align 64 %p)
  br label %done
done:
  ret void
}

; CHECK-LABEL: @copy(
; CHECK: stab.moves
; CHECK: ret void
define void @copy(ptr %p) {
  call void @takes_small_copy(ptr byval({ i64, i64 }) align 16 %p)
  ret void
}

; Its alignment is its type's where none is given.
; CHECK-LABEL: @copy_of_a_vector(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @copy_of_a_vector(ptr %p) {
  call void @takes_copy_of_vector(ptr byval(<8 x float>) %p)
  ret void
}

; CHECK-LABEL: @vectors_in_registers(
; CHECK: stab.moves
; CHECK: ret void
define void @vectors_in_registers(<8 x float> %v) "target-features"="+avx2" {
  call void @takes_two(<8 x float> %v, <8 x float> %v)
  ret void
}

; CHECK-LABEL: @all_vector_registers(
; CHECK: stab.moves
; CHECK: ret void
define void @all_vector_registers(<8 x float> %v) "target-features"="+avx2" {
  call void @takes_eight(<8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v)
  ret void
}

; CHECK-LABEL: @one_vector_too_many(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @one_vector_too_many(<8 x float> %v) "target-features"="+avx2" {
  call void @takes_nine(<8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v, <8 x float> %v)
  ret void
}

; No register takes a wide vector in such a call.
; CHECK-LABEL: @variadic(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @variadic(<8 x float> %v) "target-features"="+avx2" {
  call void (i32, ...) @takes_some(i32 1, <8 x float> %v)
  ret void
}

; CHECK-LABEL: @variadic_numbers(
; CHECK: stab.moves
; CHECK: ret void
define void @variadic_numbers() {
  call void (i32, ...) @takes_some(i32 1, double 2.0)
  ret void
}

; CHECK-LABEL: @catches_in_circles(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @catches_in_circles() personality ptr @__gxx_personality_v0 {
  br label %again
again:
  invoke void @takes_seven(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6) to label %done unwind label %caught
caught:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %again
done:
  ret void
}

; CHECK-LABEL: @catches_in_circles_without_stack(
; CHECK: stab.moves
; CHECK: ret void
define void @catches_in_circles_without_stack() personality ptr @__gxx_personality_v0 {
  br label %again
again:
  invoke void @takes_six(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5) to label %done unwind label %caught
caught:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %again
done:
  ret void
}

; CHECK-LABEL: @catches_once(
; CHECK: stab.moves
; CHECK: ret void
define void @catches_once(i32 %n) personality ptr @__gxx_personality_v0 {
  br label %again
again:
  %i = phi i32 [ 0, %0 ], [ %next, %went ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  invoke void @takes_seven(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6) to label %went unwind label %caught
went:
  br i1 %more, label %again, label %done
caught:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %done
done:
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 2000}
