; Every function that this module emits is listed by address and size: 8 bytes each.
; RUN: %stab -passes=stab-functions < %s | %check
; RUN: %stab -passes=stab-functions < %s | %llc -relocation-model=pic | %check --check-prefix=ASM

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @first() !pcsections ![[list:[0-9]+]]
; CHECK: define internal void @second() {{.*}}!pcsections ![[list]]
; CHECK: define available_externally void @elsewhere() {
; CHECK: define void @hardened() #{{[0-9]+}} {
; CHECK: ![[list]] = !{!"stab_funcs"}

; ASM: .section stab_funcs,"awo",@progbits,.text
; ASM: [[entry:.Lpcsection_base[0-9]*]]:
; ASM: .long [[begin:.Lfunc_begin[0-9]+]]-[[entry]]
; ASM: .long .Lfunc_end{{[0-9]+}}-[[begin]]

define void @first() {
  ret void
}
define internal void @second() naked {
  unreachable
}
define available_externally void @elsewhere() {
  ret void
}
define void @hardened() speculative_load_hardening {
  ret void
}
