; Three hundred thousand additions lie between a function's address and the load of its bytes: more than a compiler's stack has place
; for, if each were followed from within the one before.
; RUN: awk 'BEGIN { print "define i8 @sums() {"; print "  %a0 = ptrtoint ptr @read to i64"; for (i = 1; i <= 300000; ++i) print "  %a" i " = add i64 %a" i - 1 ", 1"; print "  %at = inttoptr i64 %a300000 to ptr"; print "  %byte = load i8, ptr %at"; print "  ret i8 %byte"; print "}" }' | cat %s - | %stab -passes=stab-code-as-data | %check

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define void @read() #[[data:[0-9]+]] {
; CHECK: attributes #[[data]] = {{.*}}"stab-code-is-data" "stab-no-pad"

define void @read() {
  ret void
}
