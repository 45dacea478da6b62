; Three hundred thousand additions lie between a function's address and the load of its bytes, and between another one's and no load:
; more than a compiler's stack has place for, if each were followed from within the one before.
; RUN: awk 'BEGIN { print "define i8 @sums() {"; print "  %read0 = ptrtoint ptr @read to i64"; print "  %kept0 = ptrtoint ptr @unread to i64"; for (i = 1; i <= 300000; ++i) { print "  %read" i " = add i64 %read" i - 1 ", 1"; print "  %kept" i " = add i64 %kept" i - 1 ", 1" } print "  store i64 %kept300000, ptr @number"; print "  %at = inttoptr i64 %read300000 to ptr"; print "  %byte = load i8, ptr %at"; print "  ret i8 %byte"; print "}" }' | cat %s - | %stab -passes=stab-code-as-data | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @read() #[[data:[0-9]+]] {
; CHECK: define void @unread() align 8 !pcsections
; CHECK: attributes #[[data]] = {{.*}}"stab-code-is-data" "stab-no-pad"

@number = global i64 0

define void @read() {
  ret void
}
define void @unread() {
  ret void
}
