; A comdat function's slot is in the comdat; any other's is tied to the function's section. The section is
; allocated and not writable.
; RUN: %stab -passes='stab-pads<all>' < %s | %check
; RUN: %stab -passes='stab-pads<all>' < %s | %llc -filetype=obj -relocation-model=pic -function-sections -o - | %readelf -SWg - | %check --check-prefix=ELF

target triple = "x86_64-unknown-linux-gnu"

$inline = comdat any
declare void @callee()

; CHECK: @stab_pad = private constant i32 0, section "stab_pads", comdat($inline)
; CHECK: @stab_pad.1 = private constant i32 0, section "stab_pads", align 4

; ELF: stab_pads PROGBITS {{.*}} 000004 00 ALG
; ELF: stab_pads PROGBITS {{.*}} 000004 00 AL
; ELF: COMDAT group section {{.*}} [inline] contains
; ELF: .text.inline
; ELF: stab_pads

define linkonce_odr void @inline() comdat {
  call void @callee()
  ret void
}

define void @plain() {
  call void @callee()
  call void @inline()
  ret void
}
