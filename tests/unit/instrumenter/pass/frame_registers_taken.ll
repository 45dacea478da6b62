; A padded function has a frame pointer, rbp, and a base pointer, rbx, if its frame is aligned. There is no pad where something else
; wants them.
; RUN: %stab -passes='stab-pads<all>' < %s | %check

target triple = "x86_64-unknown-linux-gnu"

declare void @callee()
declare preserve_nonecc void @keeps_nothing()
declare ghccc void @haskell()
declare preserve_mostcc void @keeps_most()
declare void @keeps_none_by_attribute() "no_callee_saved_registers"
declare void @llvm.write_register.i64(metadata, i64)
@everyone = internal global i64 0

; CHECK-LABEL: @calls_one_that_keeps_nothing(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @calls_one_that_keeps_nothing() {
  call preserve_nonecc void @keeps_nothing()
  ret void
}

; CHECK-LABEL: @calls_haskell(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @calls_haskell() {
  call ghccc void @haskell()
  ret void
}

; CHECK-LABEL: @calls_one_with_the_attribute(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @calls_one_with_the_attribute() {
  call void @keeps_none_by_attribute()
  ret void
}

; CHECK-LABEL: @calls_one_that_keeps_most(
; CHECK: stab.moves
; CHECK: ret void
define void @calls_one_that_keeps_most() {
  call preserve_mostcc void @keeps_most()
  ret void
}

; Code generation refuses a base pointer in it.
; CHECK-LABEL: @keeps_nothing_itself(
; CHECK-NOT: stab.moves
; CHECK: ret void
define preserve_nonecc void @keeps_nothing_itself() {
  call void @callee()
  ret void
}

; CHECK-LABEL: @writes_its_own_frame_pointer(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @writes_its_own_frame_pointer(i64 %x) {
  call void @callee()
  call void @llvm.write_register.i64(metadata !0, i64 %x)
  ret void
}

; Thirteen are left.
; CHECK-LABEL: @fourteen_registers(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @fourteen_registers(i64 %a) {
  call void @callee()
  call void asm sideeffect "", "r,r,r,r,r,r,r,r,r,r,r,~{r12},~{r13d},~{r14b}"(i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a)
  ret void
}

; CHECK-LABEL: @thirteen_registers(
; CHECK: stab.moves
; CHECK: ret void
define void @thirteen_registers(i64 %a) {
  call void @callee()
  call void asm sideeffect "", "r,r,r,r,r,r,r,r,r,r,~{r12},~{r13d},~{r14b},~{xmm3},~{memory},~{cc}"(i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a)
  ret void
}

; A value of 16 bytes takes two; an operand that is both read and written is one.
; CHECK-LABEL: @large_values(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @large_values(i128 %a) {
  call void @callee()
  %r = call i128 asm sideeffect "", "=r,0,r,r,r,r,r,r"(i128 %a, i128 %a, i128 %a, i128 %a, i128 %a, i128 %a, i128 %a)
  ret void
}

; CHECK-LABEL: @read_and_written(
; CHECK: stab.moves
; CHECK: ret void
define void @read_and_written(i64 %a) {
  call void @callee()
  %r = call { i64, i64, i64, i64, i64, i64, i64 } asm sideeffect "", "=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6"(i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a)
  ret void
}

; An address may take two; a global's and a local's take none.
; CHECK-LABEL: @seven_addresses(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @seven_addresses(ptr %p) {
  call void @callee()
  call void asm sideeffect "", "*m,*m,*m,*m,*m,*m,*m"(ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p)
  ret void
}

; CHECK-LABEL: @addresses_that_are_known(
; CHECK: stab.moves
; CHECK: ret void
define void @addresses_that_are_known() {
  %p = alloca i64
  call void @callee()
  call void asm sideeffect "", "*m,*m,*m,*m,*m,*m,*m"(ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) %p, ptr elementtype(i64) @everyone, ptr elementtype(i64) @everyone, ptr elementtype(i64) %p, ptr elementtype(i64) %p)
  ret void
}

; Of four registers that have a high byte, one is rbx.
; CHECK-LABEL: @lettered_registers(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @lettered_registers(i64 %a) {
  call void @callee()
  call void asm sideeffect "", "Q,Q,{ax},{dx}"(i64 %a, i64 %a, i64 %a, i64 %a)
  ret void
}

; The same ones twice.
; CHECK-LABEL: @division(
; CHECK: stab.moves
; CHECK: ret void
define void @division(i64 %a) {
  call void @callee()
  %r = call { i64, i64 } asm sideeffect "divq $4", "={ax},={dx},{ax},{dx},r"(i64 %a, i64 %a, i64 %a)
  ret void
}

; Put back, but meanwhile no frame pointer.
; CHECK-LABEL: @named_in_the_text(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @named_in_the_text() {
  call void @callee()
  call void asm sideeffect "movq %rbp, %r11; xorl %ebp, %ebp; movq %r11, %rbp", "~{r11}"()
  ret void
}

; CHECK-LABEL: @nearly_named_in_the_text(
; CHECK: stab.moves
; CHECK: ret void
define void @nearly_named_in_the_text() {
  call void @callee()
  call void asm sideeffect ".Lrbp: call rbx_of # .rbx", ""()
  ret void
}

; The text of a goto counts, too.
; CHECK-LABEL: @goes(
; CHECK-NOT: stab.moves
; CHECK: ret void
define void @goes() {
  call void @callee()
  callbr void asm sideeffect "testq %rbx, %rbx; jz ${0:l}", "!i"() to label %on [label %on]
on:
  ret void
}

!0 = !{!"rbp"}
