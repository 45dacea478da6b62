; A named function calls stab_rt_layout_visit at its entry, where there is a runtime; others don't, and the mark is gone, so that
; link-time optimization doesn't count twice.
; RUN: %stab -passes=stab-visits < %s | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @visited(
; CHECK: alloca
; CHECK: %[[there:.*]] = icmp ne ptr @stab_rt_layout_visit, null
; CHECK: br i1 %[[there]], label %[[call:[0-9]+]], label %[[rest:[0-9]+]]
; CHECK: {{^}}[[call]]:
; CHECK: call i32 @stab_rt_layout_visit()
; CHECK: {{^}}[[rest]]:
; CHECK: store i32 %a

; CHECK-LABEL: define internal i32 @second(
; CHECK: call i32 @stab_rt_layout_visit()

; CHECK-LABEL: define i32 @visit(
; CHECK-NOT: @stab_rt_layout_visit
; CHECK: ret i32

; CHECK: declare extern_weak i32 @stab_rt_layout_visit()
; CHECK-NOT: "stab-visit"

define i32 @visited(i32 %a) #0 {
  %slot = alloca i32
  store i32 %a, ptr %slot
  %value = load i32, ptr %slot
  ret i32 %value
}
define internal i32 @second(i32 %a) #0 {
  ret i32 %a
}
define i32 @visit(i32 %a) #0 {
  %sum = call i32 @second(i32 %a)
  ret i32 0
}
declare void @elsewhere() #0

attributes #0 = { "stab-visit"="visited,second,elsewhere" }
