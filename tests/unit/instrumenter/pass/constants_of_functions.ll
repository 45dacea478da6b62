; What is in the constants that a function uses is listed for post-link, in a section that is not loaded. Names and numbers of
; constants don't count, nor does the folder of a source file in a text; contents do, through pointers, too. What may be written is 0.
; RUN: %stab -passes=stab-constants < %s | %check
; RUN: diff <(%stab -passes=stab-constants < %s | grep 'module asm') <(sed 's/@\.str\.7/@another/g' %s | %stab -passes=stab-constants | grep "module asm")
; RUN: diff <(%stab -passes=stab-constants < %s | grep 'module asm') <(sed 's,/home/me/work,/srv/its/work,' %s | %stab -passes=stab-constants | grep "module asm")
; RUN: diff <(%stab -passes=stab-constants < %s | grep 'module asm') <(sed 's/@table = internal constant/@table = internal unnamed_addr constant/' %s | %stab -passes=stab-constants | grep "module asm")
; RUN: test $(sed 's/c"seven/c"SEVEN/' %s | %stab -passes=stab-constants | grep "module asm" | diff <(%stab -passes=stab-constants < %s | grep 'module asm') - | grep -c ">") = 4
; RUN: test $(sed 's/, ptr @second]/, ptr @first]/' %s | %stab -passes=stab-constants | grep "module asm" | diff <(%stab -passes=stab-constants < %s | grep 'module asm') - | grep -c ">") = 1
; RUN: test $(sed 's/work\.c/play.c/' %s | %stab -passes=stab-constants | grep "module asm" | diff <(%stab -passes=stab-constants < %s | grep 'module asm') - | grep -c ">") = 1
; RUN: %stab -passes=stab-constants < %s | %llc -filetype=obj -o - | %readelf -S - | %check --check-prefix=SECTION

target triple = "x86_64-unknown-linux-gnu"

; SECTION: stab_constants PROGBITS {{[0-9a-f]+ [0-9a-f]+ [0-9a-f]+}} 00 0 0 4

@.str.7 = private unnamed_addr constant [6 x i8] c"seven\00"
@path = private unnamed_addr constant [43 x i8] c"assert(x) failed in '/home/me/work/work.c'\00"
@table = internal constant [2 x ptr] [ptr @first, ptr @second]
@names = internal constant [1 x { ptr, i32 }] [{ ptr, i32 } { ptr @.str.7, i32 3 }]
@circle = internal constant { ptr, i32 } { ptr @circle, i32 5 }
@counter = internal global i32 0
@elsewhere = external constant i32
@passes_on = internal constant [1 x ptr] [ptr @elsewhere]

declare void @take(ptr)

; CHECK: module asm ".pushsection stab_constants,\22\22,@progbits"
; CHECK: module asm ".long 0"
define internal void @first() {
  ret void
}

; CHECK: module asm ".long 0"
define internal void @second() {
  ret void
}

; Of the end of an array its contents count, and how far behind.
; CHECK: module asm ".long 9"
; CHECK-NEXT: module asm ".long 0x[[SEVEN:[0-9A-F]+]]"
; CHECK-NEXT: module asm ".long 0x[[SEVEN]]"
; CHECK-NOT: module asm ".long 0x[[SEVEN]]"
; CHECK: module asm ".long 0x0"
; CHECK-NEXT: module asm ".long 0x0"
; CHECK-NEXT: module asm ".long 0x0"
; CHECK-NEXT: module asm ".popsection"
define void @uses() {
  call void @take(ptr @.str.7)
  call void @take(ptr @.str.7)
  call void @take(ptr getelementptr (i8, ptr @.str.7, i64 6))
  call void @take(ptr @path)
  call void @take(ptr @table)
  call void @take(ptr @names)
  call void @take(ptr @counter)
  call void @take(ptr @elsewhere)
  call void @take(ptr @passes_on)
  ret void
}
