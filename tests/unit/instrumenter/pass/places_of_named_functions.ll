; A function that szc names by STAB_PLACES is aligned by its modulus, with so many bytes of int3 in front of its entry; others stay as
; they are, and what has something in front of it already does, too. Nothing is done where nothing is named. A name may be an alias,
; as those of constructors are, or one that an asm label gives.
; RUN: env "STAB_PLACES=$(printf 'placed 64 16\nfirst 4096 0\ntaken 64 16\nabsent 64 0\nodd 48 16\ncomplete 64 0\nlabelled 128 0\ndata 64 0')" %stab -passes=stab-places < %s | %check
; RUN: %stab -passes=stab-places < %s | %check --check-prefix=NONE
; RUN: env "STAB_PLACES=$(printf 'placed 64 16\nfirst 4096 0')" %stab -passes=stab-places < %s | %llc -function-sections -filetype=asm -o - | %check --check-prefix=ASM

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define i32 @placed(i32 %a) align 64 prefix [16 x i8] c"\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC\CC" {
; CHECK: define internal i32 @first(i32 %a) align 4096 {
; CHECK: define i32 @other(i32 %a) {
; CHECK: define i32 @taken(i32 %a) prefix i32 7 {
; CHECK: define i32 @odd(i32 %a) {
; CHECK: define i32 @base(i32 %a) align 64 {
; CHECK: define i32 @"\01labelled"(i32 %a) align 128 {
; NONE-NOT: align
; NONE-NOT: CC

; ASM: .p2align 6
; ASM: .zero 16,204
; ASM: placed:
; ASM: .p2align 12
; ASM: first:

define i32 @placed(i32 %a) {
  %b = call i32 @first(i32 %a)
  ret i32 %b
}
define internal i32 @first(i32 %a) {
  ret i32 %a
}
define i32 @other(i32 %a) {
  ret i32 %a
}
define i32 @taken(i32 %a) prefix i32 7 {
  ret i32 %a
}
define i32 @odd(i32 %a) {
  ret i32 %a
}
@complete = alias i32 (i32), ptr @base
define i32 @base(i32 %a) {
  ret i32 %a
}
define i32 @"\01labelled"(i32 %a) {
  ret i32 %a
}
@data = global i32 0
declare void @absent()
