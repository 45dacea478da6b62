; A table is listed when each value loaded from it goes to an indirect branch of its function, through phis too.
; RUN: %stab -passes=stab-gotos < %s | %check
; RUN: %stab -passes=stab-gotos < %s | %llc -filetype=obj -relocation-model=pic -data-sections -o - | %readelf -SWr - | %check --check-prefix=ELF

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @stab_goto = private constant i32 trunc (i64 sub (i64 ptrtoint (ptr @table to i64), i64 ptrtoint (ptr @stab_goto to i64)) to i32), section "stab_gotos", align 4, !associated ![[of:[0-9]+]]
; CHECK: @llvm.compiler.used = appending global [1 x ptr] [ptr @stab_goto]
; CHECK: ![[of]] = !{ptr @table}

; ELF: stab_gotos PROGBITS {{.*}} 000004 00 AL
; ELF: R_X86_64_PC32 {{.*}} .data.rel.ro.table

@table = internal unnamed_addr constant [2 x ptr] [ptr blockaddress(@interpret, %add), ptr blockaddress(@interpret, %stop)]

define i32 @interpret(ptr %code) {
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
