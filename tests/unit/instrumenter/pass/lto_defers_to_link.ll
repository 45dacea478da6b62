; The compile step of LTO marks the module and inserts nothing; the link step inserts, once.
; RUN: %stab -passes=stab-optimizer-last < %s | %check --check-prefix=COMPILE
; RUN: %stab -passes=stab-optimizer-last,stab-link-last < %s | %check --check-prefix=LINK
; RUN: %stab -passes=stab-optimizer-last,stab-optimizer-last < %s | %check --check-prefix=LINK
; RUN: %stab -passes=stab-optimizer-last,stab-link-last,stab-link-last < %s | %check --check-prefix=LINK

target triple = "x86_64-unknown-linux-gnu"

; COMPILE-NOT: stab_pad
; COMPILE: !"stab-deferred"

; LINK: @stab_pad = private
; LINK-NOT: @stab_pad.
; LINK: define void @caller() {{.*}}!pcsections
; LINK: %stab.moves = alloca
; LINK-NOT: alloca
; LINK: ret void

declare void @callee()
define void @caller() "stab-pad-short" {
  call void @callee()
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"EnableSplitLTOUnit", i32 0}
