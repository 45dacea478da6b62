; In functions that call themselves, directly or through each other, the pad is taken only where the slot says so.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @self(
; CHECK: [[pad:%.*]] = load volatile i16, ptr @stab_pad
; CHECK: [[any:%.*]] = icmp ne i16 [[pad]], 0
; CHECK: br i1 [[any]], label %[[rare:.*]], label %[[rest:.*]], !prof ![[never:[0-9]+]]
; CHECK: [[rare]]:
; CHECK: icmp uge
; CHECK: icmp ule
; CHECK: %stab.moves = alloca
; CHECK: [[rest]]:
; CHECK: call i32 @self(
define i32 @self(i32 %n) {
  %m = sub i32 %n, 1
  %r = call i32 @self(i32 %m)
  %s = add i32 %r, 1
  ret i32 %s
}

; CHECK-LABEL: define i32 @ping(
; CHECK: br i1 %{{.*}}, !prof ![[never]]
; CHECK: %stab.moves = alloca
define i32 @ping(i32 %n) {
  %r = call i32 @pong(i32 %n)
  %s = add i32 %r, 1
  ret i32 %s
}

; CHECK-LABEL: define i32 @pong(
; CHECK: br i1 %{{.*}}, !prof ![[never]]
; CHECK: %stab.moves = alloca
define i32 @pong(i32 %n) {
  %r = call i32 @ping(i32 %n)
  %s = add i32 %r, 1
  ret i32 %s
}

; CHECK-LABEL: define i32 @outside(
; CHECK-NOT: !prof ![[never]]
; CHECK: %stab.moves = alloca
; CHECK: ret i32
define i32 @outside(i32 %n) {
  %r = call i32 @self(i32 %n)
  %s = add i32 %r, 1
  ret i32 %s
}
