; With retpolines labels become numbers of a switch: such a table is not listed. Each of these features is enough.
; RUN: %stab -passes=stab-gotos < %s | %check --implicit-check-not=stab_goto
; RUN: sed s/+retpoline-indirect-branches/+lvi-cfi/ %s | %stab -passes=stab-gotos | %check --implicit-check-not=stab_goto
; RUN: sed s/+retpoline-indirect-branches/-lvi-cfi/ %s | %stab -passes=stab-gotos | %check --check-prefix=PLAIN
; CHECK: @table
; PLAIN: @stab_goto

target triple = "x86_64-unknown-linux-gnu"

@table = internal unnamed_addr constant [2 x ptr] [ptr blockaddress(@interpret, %add), ptr blockaddress(@interpret, %stop)]

define i32 @interpret(ptr %code) #0 {
entry:
  %first = load i8, ptr %code
  %at = zext i8 %first to i64
  %slot = getelementptr inbounds [2 x ptr], ptr @table, i64 0, i64 %at
  %label = load ptr, ptr %slot
  br label %go
add:
  %second = load i8, ptr %code
  %at2 = zext i8 %second to i64
  %slot2 = getelementptr inbounds [2 x ptr], ptr @table, i64 0, i64 %at2
  %label2 = load ptr, ptr %slot2
  br label %go
go:
  %target = phi ptr [ %label, %entry ], [ %label2, %add ]
  indirectbr ptr %target, [label %add, label %stop]
stop:
  ret i32 0
}

attributes #0 = { "target-features"="+cx8,+retpoline-indirect-branches,+retpoline-indirect-calls,+sse2" }
