; Calls that run nothing on this stack and come back: intrinsics, inline asm, noreturn, tail calls.
; RUN: %stab -passes='stab-pads<all>' < %s | %check --implicit-check-not=stab_pad

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()
declare i32 @value()
declare void @abort() noreturn
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; CHECK-LABEL: @intrinsic
define void @intrinsic(ptr %a, ptr %b) {
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 8, i1 false)
  ret void
}

; CHECK-LABEL: @assembly
define void @assembly() {
  call void asm sideeffect "nop", ""()
  ret void
}

; CHECK-LABEL: @fails
define void @fails(i1 %bad) {
  br i1 %bad, label %fail, label %done
fail:
  call void @abort()
  unreachable
done:
  ret void
}

; CHECK-LABEL: @jumps
define void @jumps() {
  tail call void @callee()
  ret void
}

; CHECK-LABEL: @must_jump
define i32 @must_jump() {
  %r = musttail call i32 @value()
  ret i32 %r
}

; The return block is shared: code generation duplicates it to make the call a jump.
; CHECK-LABEL: @jumps_over
define i32 @jumps_over(i1 %c) {
  br i1 %c, label %call, label %join
call:
  %r = tail call i32 @value()
  br label %join
join:
  %v = phi i32 [ %r, %call ], [ 0, %0 ]
  ret i32 %v
}
