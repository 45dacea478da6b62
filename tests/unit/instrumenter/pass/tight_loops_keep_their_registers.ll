; A loop that calls nothing and keeps twelve integers or pointers needs the frame pointer as a register: its function
; gets no pad. One value fewer, or a call inside, and it does.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()

; CHECK-LABEL: define i64 @tight(
; CHECK-NOT: alloca
; CHECK: ret i64
define i64 @tight(i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4, i64 %a5, i64 %a6, i64 %a7, i64 %a8, i64 %a9, i64 %a10) {
entry:
  call void @callee()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = mul i64 %i, %a0
  %s1 = mul i64 %s0, %a1
  %s2 = mul i64 %s1, %a2
  %s3 = mul i64 %s2, %a3
  %s4 = mul i64 %s3, %a4
  %s5 = mul i64 %s4, %a5
  %s6 = mul i64 %s5, %a6
  %s7 = mul i64 %s6, %a7
  %s8 = mul i64 %s7, %a8
  %s9 = mul i64 %s8, %a9
  %s10 = mul i64 %s9, %a10
  %next = add i64 %s10, 1
  %more = icmp ult i64 %next, 1000000
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}

; CHECK-LABEL: define i64 @some(
; CHECK: alloca
define i64 @some(i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4, i64 %a5, i64 %a6, i64 %a7, i64 %a8, i64 %a9) {
entry:
  call void @callee()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = mul i64 %i, %a0
  %s1 = mul i64 %s0, %a1
  %s2 = mul i64 %s1, %a2
  %s3 = mul i64 %s2, %a3
  %s4 = mul i64 %s3, %a4
  %s5 = mul i64 %s4, %a5
  %s6 = mul i64 %s5, %a6
  %s7 = mul i64 %s6, %a7
  %s8 = mul i64 %s7, %a8
  %s9 = mul i64 %s8, %a9
  %next = add i64 %s9, 1
  %more = icmp ult i64 %next, 1000000
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}

; CHECK-LABEL: define i64 @calling(
; CHECK: alloca
define i64 @calling(i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4, i64 %a5, i64 %a6, i64 %a7, i64 %a8, i64 %a9, i64 %a10) {
entry:
  call void @callee()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = mul i64 %i, %a0
  %s1 = mul i64 %s0, %a1
  %s2 = mul i64 %s1, %a2
  %s3 = mul i64 %s2, %a3
  %s4 = mul i64 %s3, %a4
  %s5 = mul i64 %s4, %a5
  %s6 = mul i64 %s5, %a6
  %s7 = mul i64 %s6, %a7
  %s8 = mul i64 %s7, %a8
  %s9 = mul i64 %s8, %a9
  %s10 = mul i64 %s9, %a10
  call void @callee()
  %next = add i64 %s10, 1
  %more = icmp ult i64 %next, 1000000
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}
