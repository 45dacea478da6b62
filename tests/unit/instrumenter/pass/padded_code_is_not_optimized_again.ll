; An optimizer would make the frame of a padded function a fixed one, so bitcode that has pads is refused where one comes.
; RUN: (%stab -passes=stab-start < %s 2>&1 || true) | %check
; RUN: sed 's/"stab-padded"/"stab-no-pad"/' %s | %stab -passes=stab-start | %check --check-prefix=FINE
; RUN: sed 's/"stab-padded"/"stab-padded" noinline optnone/' %s | %stab -passes=stab-start | %check --check-prefix=FINE

target triple = "x86_64-unknown-linux-gnu"

; CHECK: error: '{{.*}}' has stack pads already, which an optimizer breaks; make it again with 'szc -emit-llvm'
; FINE: define void @caller()

declare void @callee()
define void @caller() "stab-padded" {
  call void @callee()
  ret void
}
