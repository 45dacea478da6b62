; GNU as misreads a section that is tied to a name in quotes: such a function is not listed and has no pad where it is to be read by
; that assembler.
; RUN: %stab -passes=stab-pads,stab-functions < %s | %check
; RUN: sed 's/"stab-gnu-assembler"//' %s | %stab -passes=stab-pads,stab-functions | %check --check-prefix=OWN

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @plain.name() {{.*}}!pcsections
; CHECK: @stab_stack
; CHECK: define void @"in$quotes"()
; CHECK-NOT: !pcsections
; CHECK-NOT: @stab_stack
; CHECK: ret void

; OWN: define void @plain.name() {{.*}}!pcsections
; OWN: define void @"in$quotes"() {{.*}}!pcsections
; OWN: @stab_stack

declare void @other()

define void @plain.name() #0 {
  call void @other()
  call void @other()
  ret void
}

define void @"in$quotes"() #0 {
  call void @other()
  call void @other()
  ret void
}

attributes #0 = { "stab-gnu-assembler" "stab-pad-short" }
