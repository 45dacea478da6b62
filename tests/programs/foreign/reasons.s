# A function for each reason to stay of code that no driver of ours compiled, and some that move. Assembled by gcc.
        .macro function name
        .p2align 4
        .globl \name
        .type \name, @function
\name:
        .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size \name, .-\name
        .endm

        .text
        function moves
        mov $1, %eax
        ret
        end moves

        function switches
        lea .Ltable(%rip), %rdx
        and $3, %edi
        movslq (%rdx,%rdi,4), %rax
        add %rdx, %rax
        notrack jmp *%rax
.Lcase0:
        mov $10, %eax
        ret
.Lcase1:
        mov $11, %eax
        ret
.Lcase2:
        mov $12, %eax
        ret
        end switches
        .section .rodata
        .p2align 2
.Ltable:
        .long .Lcase0 - .Ltable, .Lcase1 - .Ltable, .Lcase2 - .Ltable, .Lcase1 - .Ltable
        .text

        function goes_by_labels
        lea labels(%rip), %rdx
        and $1, %edi
        jmp *(%rdx,%rdi,8)
.Llabel0:
        mov $20, %eax
        ret
.Llabel1:
        mov $21, %eax
        ret
        end goes_by_labels
        .section .data.rel.ro, "aw"
        .p2align 3
        .type labels, @object
        .size labels, 16
labels:
        .quad .Llabel0, .Llabel1
        .text

        .p2align 4
        .globl without_frame
        .type without_frame, @function
without_frame:
        mov $2, %eax
        ret
        .size without_frame, .-without_frame

        function adds_carry
        mov $3, %eax
        adc $0, %eax
        ret
        end adds_carry

        function falls
        mov $4, %eax
        inc %eax
        end falls

        function into_middle
        xor %eax, %eax
        .byte 0xe9
        .long middle - . - 4
        end into_middle
        function entered
        xor %eax, %eax
        nop
        nop
        nop
        nop
middle: mov $5, %eax
        ret
        end entered

        function tiny
        ret
        end tiny

        .p2align 4
        .skip 5, 0xcc
        .type odd, @function
odd:
        .cfi_startproc
        mov $6, %eax
        ret
        end odd

        function handles_strangely
        .cfi_personality 0x1b, stranger
        .cfi_lsda 0x1b, .Lstrange
        mov $7, %eax
        ret
        nop
        end handles_strangely
        function stranger
        mov $8, %eax
        ret
        end stranger
        .section .gcc_except_table, "a"
.Lstrange:
        .byte 0xff, 0xff, 1, 0

        .text
        .globl chosen
        .p2align 4
        .type chosen, @gnu_indirect_function
chosen:
        .cfi_startproc
        lea moves(%rip), %rax
        ret
        end chosen

        .globl main
        function main
        push %rbx
        mov $2, %edi
        call switches
        mov %eax, %ebx
        mov $1, %edi
        call goes_by_labels
        add %eax, %ebx
        call chosen@PLT
        add %eax, %ebx
        clc
        call adds_carry
        add %ebx, %eax
        pop %rbx
        ret
        end main
        .section .note.GNU-stack, "", @progbits
