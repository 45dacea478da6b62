; A module for another target comes out as it went in, whatever is asked for.
; RUN: sed s/TRIPLE/x86_64-pc-linux-gnu/ %s | %stab -passes=stab-start,stab-optimizer-last | %check --check-prefix=OURS
; RUN: sed s/TRIPLE/x86_64-pc-linux-gnux32/ %s | %stab -passes=stab-start,stab-optimizer-last | %check --check-prefix=OTHER
; RUN: sed s/TRIPLE/aarch64-linux-gnu/ %s | %stab -passes=stab-start,stab-optimizer-last | %check --check-prefix=OTHER
; RUN: sed s/TRIPLE/wasm32/ %s | %stab -passes=stab-start,stab-optimizer-last | %check --check-prefix=OTHER
; RUN: sed s/TRIPLE/x86_64-w64-mingw32/ %s | %stab -passes=stab-start,stab-link-last | %check --check-prefix=OTHER
; RUN: sed s/TRIPLE/x86_64-apple-macos/ %s | %stab -passes=stab-start,stab-link-last | %check --check-prefix=OTHER
target triple = "TRIPLE"

declare void @callee(ptr)

define void @caller() #0 {
  %room = alloca i32
  call void @callee(ptr %room)
  ret void
}

attributes #0 = { "stab-visit"="caller" "stab-pad-short" }

; OURS: @stab_pad = private
; OURS: pcsections
; OTHER-NOT: {{stab_pad|[ ]asm[ ]|pcsections|stab_rt}}
