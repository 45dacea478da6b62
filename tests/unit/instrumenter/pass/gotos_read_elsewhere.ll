; A table that another function reads, too, is not listed.
; RUN: %stab -passes=stab-gotos < %s | %check --implicit-check-not=stab_goto
; CHECK: @table

target triple = "x86_64-unknown-linux-gnu"

@table = internal constant [2 x ptr] [ptr blockaddress(@interpret, %one), ptr blockaddress(@interpret, %two)]
define ptr @other() {
  %label = load ptr, ptr @table
  ret ptr %label
}
define ptr @interpret(i64 %at, ptr %out) {
entry:
  %slot = getelementptr inbounds [2 x ptr], ptr @table, i64 0, i64 %at
  %label = load ptr, ptr %slot

  indirectbr ptr %label, [label %one, label %two]
one:
  ret ptr null
two:
  ret ptr %out
}
