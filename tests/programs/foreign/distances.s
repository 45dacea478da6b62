# A function that gets from its own address to another one: by a distance that the assembler knows, so nothing else tells of it.
	.text
	.globl main
	.type main, @function
	.p2align 4
main:
	.cfi_startproc
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	movl $34, %edi
	call own_address
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size main, .-main

	.type own_address, @function
	.p2align 4
own_address:
	.cfi_startproc
	leaq own_address(%rip), %rax
	addq $(reached - own_address), %rax
	jmp *%rax
	.cfi_endproc
	.size own_address, .-own_address

	.type reached, @function
	.p2align 4
reached:
	.cfi_startproc
	leal 3(%rdi), %eax
	nopl 0(%rax,%rax,1)
	ret
	.cfi_endproc
	.size reached, .-reached
	.section .note.GNU-stack, "", @progbits
